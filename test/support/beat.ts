import { onTestFinished } from 'vitest'
import { everySecond } from '../../src/async.ts'
import { createLogger } from '../../src/observe/log.ts'
import { jobFaults } from '../../src/store/index.ts'

const logger = createLogger('test', { level: 'fatal', format: 'json' })

/** Runs a job of an object now and once a second, as a process does, until the object is closed or the test ends. */
export function beating<Of extends object>(of: Of, job: (of: Of) => unknown): { close(): Promise<void> } & Of {
  const beat = everySecond({ job: () => job(of) }, jobFaults(logger))
  onTestFinished(() => beat.stop())
  const { close } = of as { close?(): unknown }
  return Object.assign(of, { close: async () => void (await Promise.all([beat.stop(), close?.call(of)])) })
}
