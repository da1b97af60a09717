import { setTimeout as pause } from 'node:timers/promises'
import { waybridge } from '../support/cli.ts'
import type { Fault } from './faults.ts'
import type { Site } from './site.ts'

/** What became of a fault: seconds until its finding was in the status, and until it was gone; undefined: not in time. */
export interface Measured {
  readonly fault: Fault
  readonly foundS?: number
  readonly endedS?: number
  readonly finding?: StatusFinding
  /** What `waybridge status` ended with, while the finding held. */
  readonly exitCode?: number | null
}

interface StatusFinding {
  readonly code: string
  readonly severity: string
  readonly message: string
}

/** Breaks, waits for the finding, mends, and waits for its end. */
export async function measure(site: Site, fault: Fault): Promise<Measured> {
  const present = async () => (await findings(site)).find(({ code }) => code === fault.code)
  // What a fault before has left.
  await waitFor(async () => !(await present()), PATIENCE_S)
  const mend = await fault.begin(site)
  const brokenAt = performance.now()
  let finding: StatusFinding | undefined
  const isFound = await waitFor(async () => (finding = await present()) !== undefined, fault.dueS + PATIENCE_S)
  const foundS = isFound ? since(brokenAt) : undefined
  const exitCode = isFound ? (await waybridge(['status', '--config', site.product.dir])).code : undefined
  const mendedAt = performance.now()
  await mend()
  const isEnded = await waitFor(async () => !(await present()), fault.endsS + PATIENCE_S)
  return { fault, foundS, finding, exitCode, endedS: isFound && isEnded ? since(mendedAt) : undefined }
}

/** What does not hold of what we promise; undefined: all does. */
export function problemOf({ fault, foundS, endedS, finding, exitCode }: Measured): string | undefined {
  const { dueS, endsS, what } = fault
  if (foundS === undefined || foundS > dueS + WITHIN_S) return `${what}: found after ${foundS ?? 'too many'} s`
  if (endedS === undefined || endedS > endsS + WITHIN_S) return `${what}: ended after ${endedS ?? 'too many'} s`
  if (finding?.severity === 'error' && exitCode !== 1) return `${what}: waybridge status ended with ${exitCode}`
  return undefined
}

/** The table of src/diagnose/README.md. */
export function tableOf(measured: readonly Measured[]): string {
  const rows = measured.map(({ fault: { what, code, dueS, endsS }, foundS, endedS }) => {
    const cells = [what, `\`${code}\``, dueS, foundS?.toFixed(1) ?? '—', endsS, endedS?.toFixed(1) ?? '—']
    return `| ${cells.join(' | ')} |`
  })
  const head = ['Fault', 'Finding', 'Due after, s', 'Found after, s', 'Due to end after, s', 'Ended after, s']
  return [`| ${head.join(' | ')} |`, `|${head.map(() => '---').join('|')}|`, ...rows].join('\n')
}

async function findings({ product }: Site): Promise<StatusFinding[]> {
  const status = await product.admin<{ findings: StatusFinding[] }>('/admin/status')
  return status.findings
}

async function waitFor(isSo: () => Promise<boolean>, patienceS: number): Promise<boolean> {
  const deadline = performance.now() + patienceS * 1000
  while (performance.now() < deadline) {
    if (await isSo().catch(() => false)) return true
    await pause(LOOK_MS)
  }
  return false
}

function since(at: number): number {
  return Math.round((performance.now() - at) / 100) / 10
}

const LOOK_MS = 250
const WITHIN_S = 10
/** Longer than what holds, so that the table says by how much it does not. */
const PATIENCE_S = 75
