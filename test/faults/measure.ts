import { setTimeout as pause } from 'node:timers/promises'
import { CODES, type FindingCode } from '../../src/diagnose/codes.ts'
import { untilSo } from '../support/processes.ts'
import type { Fault } from './fault.ts'
import { ALWAYS_TRUE } from './faults.ts'
import type { Site } from './site.ts'
import { pageSays, SHOWS, SURFACES, type Surface, statusOf, surfacesOf } from './surfaces.ts'

/** What became of a fault: seconds until each surface showed its finding, and until none did; undefined: not in time. */
export interface Measured {
  readonly fault: Fault
  readonly foundS: Partial<Record<Surface, number>>
  readonly endedS?: number
  readonly status?: Awaited<ReturnType<typeof statusOf>>
  /** What the page said of it. */
  readonly onPage?: string
  /** What was wrong about what was told of it. */
  readonly wrong?: string
  /** What was said meanwhile, and is not so. */
  readonly falsehoods: readonly string[]
  /** Where it was looked for. */
  readonly surfaces: readonly Surface[]
}

/** Breaks, waits for the finding on every surface, mends, and waits for its end on all. */
export async function measure(site: Site, fault: Fault): Promise<Measured> {
  const surfaces = surfacesOf(site, fault)
  const { dueS = 0, endsS = 0, lastsS = 0 } = fault
  const until = (isShown: boolean, patienceS: number) => async (surface: Surface) => {
    const began = performance.now()
    const isSo = async () => (await SHOWS[surface](site, fault)) === isShown
    const isSoInTime = await untilSo(isSo, { withinMs: patienceS * 1000, everyMs: LOOK_MS })
    return isSoInTime ? Math.round((performance.now() - began) / 100) / 10 : undefined
  }
  // What a fault before has left.
  await Promise.all(surfaces.map(until(false, PATIENCE_S)))
  await untilSo(async () => !(await statusOf(site)).findings.some((finding) => saysFalsely(fault, finding)), {
    withinMs: PATIENCE_S * 1000,
  })
  await untilSo(async () => (await brokenLinks(site, fault)).length === 0, { withinMs: PATIENCE_S * 1000 })
  const listening = new Falsehoods(site, fault)
  const mend = await fault.begin(site)
  const found = await Promise.all(surfaces.map(until(true, dueS + PATIENCE_S)))
  listening.isNamed = found.every((seconds) => seconds !== undefined)
  await pause(lastsS * 1000)
  const status = await statusOf(site).catch(() => undefined)
  const onPage = fault.code && (await pageSays(site, fault).catch(() => undefined))
  listening.isNamed = false
  const mendedAt = performance.now()
  await mend(site)
  const mendingS = (performance.now() - mendedAt) / 1000
  const ended = fault.endsLater ? [] : await Promise.all(surfaces.map(until(false, endsS + PATIENCE_S)))
  return {
    fault,
    falsehoods: await listening.end(),
    surfaces,
    foundS: Object.fromEntries(surfaces.map((surface, index) => [surface, found[index]])),
    endedS:
      !fault.endsLater && ended.every((seconds) => seconds !== undefined) ? mendingS + Math.max(...ended) : undefined,
    status,
    onPage,
    wrong: fault.told?.(site),
  }
}

/** Listens each second to what is said of a fault, until it is over. */
class Falsehoods {
  /** Whether its finding holds, and is known. */
  isNamed = false
  readonly #site: Site
  readonly #fault: Fault
  readonly #found = new Set<string>()
  readonly #listening: Promise<void>
  #isOver = false

  constructor(site: Site, fault: Fault) {
    this.#site = site
    this.#fault = fault
    this.#listening = this.#listen()
  }

  /** Resolves to what was heard. */
  async end(): Promise<string[]> {
    this.#isOver = true
    await this.#listening
    return [...this.#found]
  }

  async #listen(): Promise<void> {
    while (!this.#isOver) {
      // While nothing answers, nothing false is said.
      await this.#hear().catch(() => {})
      await pause(1000)
    }
  }

  async #hear(): Promise<void> {
    const { product } = this.#site
    const { code } = this.#fault
    const wasNamed = this.isNamed
    const { findings, verdict } = await product.admin<Status>('/admin/status')
    for (const finding of findings)
      if (saysFalsely(this.#fault, finding)) this.#found.add(`${finding.code}: ${finding.message}`)
    const isError = code !== undefined && CODES[code].severity === 'error'
    if (code && wasNamed && this.isNamed && (isError ? /^(all )?well/i : /^all well/i).test(verdict))
      this.#found.add(verdict)
    for (const broken of await brokenLinks(this.#site, this.#fault)) this.#found.add(broken)
  }
}

/** What is broken of the vans that are well. */
async function brokenLinks({ product }: Site, { well = [] }: Fault): Promise<string[]> {
  const chains = await Promise.all(
    well.map(async (van) => ({ van, ...(await product.admin<Chain>(`/admin/devices/${van}/chain`)) })),
  )
  return chains.flatMap(({ links, van }) =>
    links.flatMap(({ evidence, link, state }) =>
      state === 'broken' ? [`${van}, ${link}: ${evidence.join('; ')}`] : [],
    ),
  )
}

function saysFalsely({ also = [], code, never }: Fault, finding: Status['findings'][number]): boolean {
  // All but those that drive send in their turn alone.
  if (code !== 'silent' && finding.code === 'silent' && !/\bVan \d/.test(JSON.stringify(finding))) return false
  const isTrue = finding.code === code || also.some((each) => each === finding.code)
  if (!isTrue && !ALWAYS_TRUE.has(finding.code as FindingCode)) return true
  return never?.test(JSON.stringify(finding)) ?? false
}

interface Status {
  readonly verdict: string
  readonly findings: readonly { readonly code: string; readonly message: string }[]
}

interface Chain {
  readonly links: readonly { readonly link: string; readonly state: string; readonly evidence: readonly string[] }[]
}

/** What does not hold of what we promise; undefined: all does. */
export function problemOf({
  falsehoods,
  fault,
  foundS,
  endedS,
  status,
  surfaces,
  wrong,
}: Measured): string | undefined {
  const { code, dueS = 0, endsLater, endsS = 0, heads, says, what } = fault
  const said = status?.findings ?? []
  if (heads && !heads.test(status?.verdict ?? '')) return `${what}: the verdict is ${status?.verdict}`
  if (code && says && !said.some((finding) => says.test(JSON.stringify(finding))))
    return `${what}: does not say ${says}: ${JSON.stringify(said)}`
  const late = surfaces.find((surface) => (foundS[surface] ?? Infinity) > dueS + WITHIN_S)
  if (late) return `${what}: in ${late} after ${foundS[late] ?? 'too many'} s`
  if (!endsLater && (endedS === undefined || endedS > endsS + WITHIN_S))
    return `${what}: ended after ${endedS ?? 'too many'} s`
  if (wrong !== undefined) return `${what}: ${wrong}`
  if (falsehoods.length > 0) return `${what}: it was said falsely: ${falsehoods.join(' | ')}`
  const isError = status?.findings.some((finding) => finding.code === code && finding.severity === 'error')
  if (isError && status?.exitCode !== 1) return `${what}: waybridge status ended with ${status?.exitCode}`
  return undefined
}

const COLUMNS = [
  'Fault',
  'Finding',
  'Due after, s',
  ...SURFACES,
  'Due to end after, s',
  'Ended everywhere after, s',
  'Said falsely',
]
/** The head of the table. */
export const TABLE_HEAD = [`| ${COLUMNS.join(' | ')} |`, `|${COLUMNS.map(() => '---').join('|')}|`]

/** Its row. */
export function rowOf({
  falsehoods,
  fault: { what, code, dueS = 0, endsLater, endsS = 0 },
  foundS,
  endedS,
}: Measured): string {
  const found = SURFACES.map((surface) => shown(foundS[surface]))
  return `| ${[what, code ? `\`${code}\`` : '—', dueS, ...found, endsLater ?? endsS, shown(endedS), falsehoods.length].join(' | ')} |`
}

function shown(seconds: number | undefined): string {
  return seconds?.toFixed(1) ?? '—'
}

const LOOK_MS = 250
const WITHIN_S = 10
/** Longer than what holds, so that the table says by how much it does not. */
const PATIENCE_S = 75
