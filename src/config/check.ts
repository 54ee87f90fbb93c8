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
    'is not a section of this file: access-service, the access-management service, has a file of its own; move the section ' +
    'to /etc/access-service/access-service.yaml, or to the file that $ACCESS_SERVICE_CONFIG names'
  return { ...fault, message }
}
