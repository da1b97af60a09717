import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Trip } from '../rig/vans.ts'
import { freePorts } from '../support/free-ports.ts'
import { listening } from '../support/listening.ts'
import { untilSo } from '../support/processes.ts'
import type { System } from './system.ts'

/** Two receivers of copies, of which one dies. */
export interface CopyReceivers {
  /** The section of `gateway.yaml`. */
  readonly yaml: string
  /** Has one of them answer nothing any more. */
  kill(): void
  /** Resolves once the living one has all, with a sentence for each account that is not well. */
  atRest(system: System): Promise<string[]>
  /** A sentence for each problem: the living one has what the tracking API took of each van, in order. */
  problems(trips: readonly Trip[], taken: (device: string) => ReadonlySet<number>): string[]
  close(): void
}

export async function startCopyReceivers(): Promise<CopyReceivers> {
  const [livingPort, dyingPort] = await freePorts(2)
  const times = new Map<string, number[]>()
  const living = createServer((request, response) => void take(request, response))

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks = await request.toArray().catch(() => undefined)
    if (!chunks) return
    const fixes = JSON.parse(Buffer.concat(chunks).toString()) as { device: string; time: string }[]
    for (const { device, time } of fixes) {
      const own = times.get(device) ?? []
      own.push(Date.parse(time) / 1000)
      times.set(device, own)
    }
    response.end()
  }

  let isDead = false
  const dying = createServer((request, response) => {
    request.resume()
    if (!isDead) request.once('end', () => response.end())
  })
  await Promise.all([listening(living, livingPort), listening(dying, dyingPort)])
  return {
    yaml: `copies: [{ name: living, to: "http://127.0.0.1:${livingPort}" }, { name: dying, to: "http://127.0.0.1:${dyingPort}" }]`,
    kill() {
      isDead = true
    },
    async atRest(system) {
      const copies = () => system.status().then(({ copies: all = [] }) => new Map(all.map((copy) => [copy.name, copy])))
      const isDone = () => copies().then((all) => all.get('living')?.waiting === 0)
      await untilSo(isDone, { withinMs: DONE_BY_MS, everyMs: 500 })
      const all = await copies()
      return Array.from(all.values(), ({ name, difference, discarded, parked, waiting }) => {
        const isWell = difference === 0 && discarded === 0 && parked === 0 && (name === 'dying' || waiting === 0)
        return isWell ? [] : [`the account of the copy ${name}: ${JSON.stringify(all.get(name))}`]
      }).flat()
    },
    problems: (trips, taken) =>
      trips.flatMap(({ id, fixes }) => problemsOf(id, fixes, { got: times.get(id) ?? [], wanted: taken(id) })),
    close: () => [living, dying].forEach(end),
  }
}

function end(server: Server): void {
  server.closeAllConnections()
  server.close()
}

/** What came first of each fix has the order of the fixes; what comes once more was under way when a process was killed. */
function problemsOf(
  device: string,
  fixes: Trip['fixes'],
  { got, wanted }: { got: readonly number[]; wanted: ReadonlySet<number> },
): string[] {
  const first = [...new Set(got)]
  const has = new Set(first)
  const missing = [...wanted].filter((time) => !has.has(time))
  const made = new Set(fixes.map(({ timestamp }) => timestamp))
  const foreign = first.filter((time) => !made.has(time))
  const turned = first.filter((time, index) => index > 0 && time < first[index - 1])
  return [
    ...(missing.length > 0 ? [`${device}: the copy misses ${missing.slice(0, 5).join()} of ${wanted.size}`] : []),
    ...(foreign.length > 0 ? [`${device}: the copy has ${foreign.slice(0, 5).join()}, which nobody sent`] : []),
    ...(turned.length > 0 ? [`${device}: in the copy ${turned.slice(0, 5).join()} came too late`] : []),
  ]
}

const DONE_BY_MS = 60_000
