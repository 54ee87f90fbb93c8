import { checkValues } from '../base/yaml/check.ts'
import type { Fault } from '../base/yaml/document.ts'
import type { Checked } from '../base/yaml/load.ts'
import { crossFaults } from './cross-faults.ts'
import { configSchema, type ParsedConfig } from './schema.ts'

/** Reports every fault, of single options and between options. */
export function checkConfig(value: unknown): Checked<ParsedConfig> {
  const { config, faults } = checkValues(configSchema, value)
  const others = crossFaults(value ?? {})
  return { config: others.length === 0 ? config : undefined, faults: [...faults.map(explained), ...others] }
}

function explained(fault: Fault): Fault {
  if (fault.path.join('.') !== 'service') return fault
  const message =
    'belongs to access-service, a program with a file of its own: move it to /etc/access-service/access-service.yaml or to ' +
    '$ACCESS_SERVICE_CONFIG, and set its dataDir, which was the folder service in this dataDir'
  return { ...fault, message }
}
