import { onTestFinished } from 'vitest'
import { everySecond } from '../../src/async.ts'
import { HeardBook } from '../../src/gateway/heard.ts'
import { createLogger } from '../../src/observe/log.ts'
import { jobFaults } from '../../src/store/index.ts'

const logger = createLogger('test', { level: 'fatal', format: 'json' })

/** Runs a job of an object now and once a second, as a process does, until the object is closed or the test ends. */
export function beating<Of extends object>(of: Of, job: (of: Of) => unknown): { close(): Promise<void> } & Of {
  return withBeat(of, { job: () => job(of) })
}

/** A book that writes what is noted of devices once a second, as that of a gateway does. */
export function beatingHeardBook(...options: ConstructorParameters<typeof HeardBook>): HeardBook {
  const book = new HeardBook(...options)
  return withBeat(book, book.jobs)
}

function withBeat<Of extends object>(of: Of, jobs: Parameters<typeof everySecond>[0]): { close(): Promise<void> } & Of {
  const beat = everySecond(jobs, jobFaults(logger))
  onTestFinished(() => beat.stop())
  const { close } = of as { close?(): unknown }
  return Object.assign(of, { close: async () => void (await Promise.all([beat.stop(), close?.call(of)])) })
}
