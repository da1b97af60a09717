import { setTimeout as sleep } from 'node:timers/promises'
import { HONEST_PLACE, type Link, linkOf, type Van } from './honest-links.ts'

/**
 * Honest vans in a process of their own: each connects over the transport of its port, sends a fix a second, and waits for its
 * acknowledgement. One that is cut off comes again after a second. Started with the vans as JSON; any message asks for what
 * happened since the last report, by transport. A fix that waits for longer than a
 * second then counts as not acknowledged, as does a login.
 */
export interface HonestReport {
  acked: number
  failed: number
  /** ms, of each acknowledged fix. */
  latencies: number[]
}

const vans = JSON.parse(process.argv[2]) as readonly Van[]
const EVERY_MS = 1000
const LATE_MS = 1000
const reports = new Map<string, HonestReport>()
/** Since when each van waits for an answer. */
const waiting = new Map<string, { readonly report: HonestReport; readonly since: number }>()

process.on('message', () => {
  const now = performance.now()
  for (const { report, since } of waiting.values()) if (now - since > LATE_MS) report.failed++
  process.send?.({ type: 'report', byTransport: Object.fromEntries(reports) })
  for (const report of reports.values()) Object.assign(report, { acked: 0, failed: 0, latencies: [] })
})
process.on('disconnect', () => process.exit())
for (const [index, van] of vans.entries()) {
  const transport = van.road.split('/')[0]
  const report = reports.get(transport) ?? { acked: 0, failed: 0, latencies: [] }
  reports.set(transport, report)
  void drive(van, report, (index / vans.length) * EVERY_MS)
}
process.send?.({ type: 'ready' })

async function drive(van: Van, report: HonestReport, phaseMs: number): Promise<never> {
  await sleep(phaseMs)
  for (;;) {
    await session(van, report).catch(() => report.failed++)
    await sleep(EVERY_MS)
  }
}

/** Until the connection ends. */
async function session(van: Van, report: HonestReport): Promise<never> {
  const { id } = van
  const link: Link = await waits(id, report, linkOf(van))
  try {
    for (let second = 0; ; second++) {
      const began = performance.now()
      const place = { ...HONEST_PLACE, latitude: HONEST_PLACE.latitude + (second % 1000) * 1e-5 }
      await waits(id, report, link.send({ time: Date.now(), ...place }))
      report.acked++
      report.latencies.push(performance.now() - began)
      await sleep(Math.max(0, EVERY_MS - (performance.now() - began)))
    }
  } finally {
    link.close()
  }
}

async function waits<Value>(id: string, report: HonestReport, answer: Promise<Value>): Promise<Value> {
  waiting.set(id, { report, since: performance.now() })
  return answer.finally(() => waiting.delete(id))
}
