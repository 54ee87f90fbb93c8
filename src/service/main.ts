#!/usr/bin/env node
import { startProgram } from '../base/process/start-program.ts'

await startProgram('access-service', async (io) => (await import('./cli/program.ts')).runAccessService(io))
