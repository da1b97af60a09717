import { setTimeout } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import type { StatusJson } from '../admin/schemas/status.ts'
import { type Clock, clockIn } from '../domain/times.ts'
import { type AdminPort, type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { readStatus } from './client.ts'
import { countText, marked, type Painter, paintOutput, printable, printExact, wrapped } from './output.ts'

type FindingAnswer = StatusJson['findings'][number]

interface StatusOptions extends AdminPortOptions {
  readonly json?: boolean
  /** Prints the status again each second, until the user ends the command. */
  readonly watch?: boolean
}

/** `waybridge status`. @returns the exit code: 1 if a finding is an error @throws UserError */
export async function statusCommand(options: StatusOptions): Promise<number> {
  const admin = await findAdminPort(options)
  let isClosed = false
  // `… | head` closes the pipe.
  if (options.watch) process.stdout.once('error', () => (isClosed = true))
  while (options.watch) {
    const lines = await shown(admin, options)
    const isScreen = process.stdout.isTTY && !options.json
    printExact([isScreen ? CLEAR + fitting(lines.text, process.stdout) : lines.text])
    await setTimeout(1000)
    if (isClosed) return 0
  }
  const { status, text } = await shown(admin, options)
  printExact([text])
  return status.findings.some(({ severity }) => severity === 'error') ? 1 : 0
}

/**
 * Returns the beginning of a text, so that its first line stays in view on a terminal of this size; the last row tells what
 * is left out.
 */
export function fitting(text: string, { rows, columns }: { readonly rows: number; readonly columns: number }): string {
  const lines = text.split('\n')
  const rowsTaken = (line: string) => Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columns))
  const taken = lines.reduce((sum, line) => sum + rowsTaken(line), 0)
  // The cursor needs its own row.
  if (taken < rows) return text
  const kept: string[] = []
  let left = rows - 2
  for (const line of lines) {
    left -= rowsTaken(line)
    if (left < 0) break
    kept.push(line)
  }
  const more = countText(lines.length - kept.length, 'more line')
  return [...kept, `… ${more}, for a larger terminal`].join('\n')
}

async function shown(admin: AdminPort, { json }: StatusOptions): Promise<Awaited<ReturnType<typeof readStatus>>> {
  const { status, text } = await readStatus(admin)
  return {
    status,
    text: json ? text : statusPage(status, clockIn(status.time_zone, Date.now()), paintOutput).join('\n'),
  }
}

/** The verdict, the findings by cause, then the figures and the processes, as lines of at most 80 columns. */
export function statusPage(status: StatusJson, clock: Clock, paint: Painter): string[] {
  const { findings, verdict } = status
  const worst = findings.some(({ severity }) => severity === 'error') ? 'red' : findings.length > 0 ? 'yellow' : 'green'
  return [
    ...wrapped(printable(verdict), 80).map((line) => paint(worst, line)),
    '',
    ...byCause(findings).flatMap((same) => [...causeLines(same, clock, paint), '']),
    ...figureLines(status, clock, paint),
    ...processLines(status, clock, paint),
    ...redisLines(status, paint),
  ]
}

/** Groups findings by cause: those with the same code and the same action. */
function byCause(findings: readonly FindingAnswer[]): FindingAnswer[][] {
  return [...Map.groupBy(findings, ({ code, action }) => `${code} ${action}`).values()]
}

/** Returns the lines of one finding; for several with one cause, the evidence of each in its own line, and the action once. */
function causeLines(same: readonly FindingAnswer[], clock: Clock, paint: Painter): string[] {
  if (same.length === 1) return findingLines(same[0], clock, paint)
  const [{ action, code, severity }] = same
  return [
    paint(STYLES[severity], `${MARKS[severity]} ${code}: ${same.length} findings`),
    ...same.flatMap(({ evidence, message, since_at }) => {
      const text = [`${message}, since ${clock(since_at)}`, ...evidence].join('; ')
      return marked('-', printable(text), 78).map((line) => `  ${line}`)
    }),
    ...marked('→', printable(action), 78).map((line) => `  ${line}`),
  ]
}

/** Returns what is wrong, since when, the evidence, and the action. */
function findingLines(finding: FindingAnswer, clock: Clock, paint: Painter): string[] {
  const { severity, code, message, since_at, evidence, action } = finding
  const head = `${code}: ${message}, since ${clock(since_at)}`
  return [
    ...marked(MARKS[severity], printable(head), 78).map((line) => paint(STYLES[severity], line)),
    ...evidence.flatMap((text) => wrapped(printable(text), 74).map((line) => paint('dim', `    ${line}`))),
    ...marked('→', printable(action), 78).map((line) => `  ${line}`),
  ]
}

function processLines({ processes = [] }: StatusJson, clock: Clock, paint: Painter): string[] {
  // The admin process itself gave a sign of life within the last second.
  const newest = Math.max(...processes.map(({ last_seen_at }) => Date.parse(last_seen_at)))
  return processes.map(({ role, pid, host, since_at, restarts, last_seen_at }) => {
    const isSilent = newest - Date.parse(last_seen_at) > SILENT_MS
    const since = isSilent ? `not seen since ${clock(last_seen_at)}` : `since ${clock(since_at)}`
    const note = `${host}, ${since}${restarts > 0 ? `, ${countText(restarts, 'restart')}` : ''}`
    const style = isSilent ? 'yellow' : 'bold'
    return `  ${role.padEnd(16)}${paint(style, String(pid).padStart(8))}   ${paint('dim', printable(note))}`
  })
}

/** One line for each primary, followed by those of its replicas. */
function redisLines({ redis = [] }: StatusJson, paint: Painter): string[] {
  const line = (role: string, note: string, style: 'bold' | 'yellow' = 'bold') =>
    `  ${'redis'.padEnd(16)}${paint(style, role.padStart(8))}   ${paint('dim', printable(note))}`
  return redis.flatMap(({ address, shards, replicas }) => [
    line('primary', shards.length > 1 || shards[0] > 0 ? `${address}, shard ${shards.join(', ')}` : address),
    ...replicas.map(({ address: own, state, lag_s, lag_bytes }) =>
      line(
        'replica',
        `${own}, ${state}, ${lag_s} s and ${lag_bytes} bytes behind`,
        state === 'online' ? 'bold' : 'yellow',
      ),
    ),
  ])
}

/** The figures as lines of at most 80 columns: a label, a figure, a note. */
function figureLines(status: StatusJson, clock: Clock, paint: Painter): string[] {
  return rowsOf(status, clock).flatMap(([label, figure, note = '', style = 'bold']) => {
    const head = `  ${label.padEnd(16)}${paint(style, String(figure).padStart(8))}`
    const [first, ...more] = folded(note).map((line) => paint('dim', line))
    return [first === undefined ? head : `${head}   ${first}`, ...more.map((line) => INDENT + line)]
  })
}

type StatusRow = [label: string, figure: string | number, note?: string, style?: 'bold' | 'green' | 'yellow']

function rowsOf(status: StatusJson, clock: Clock): StatusRow[] {
  const { apis, copies, upstream, rates, waiting, parked, held, custody } = status
  const { state, since_at, token_refused } = upstream
  return [
    ['tracking service', state, `since ${clock(since_at)}`, state === 'up' ? 'green' : 'yellow'],
    ...(apis.length > 1 ? apis.map((each) => apiRow(each, clock)) : []),
    ...token_refused.map(
      (id): StatusRow => ['oauth_token', 'refused', `of company ${id}: it may have expired`, 'yellow'],
    ),
    ...(rates ? rateRows(rates) : []),
    ...(waiting ? [['waiting', waiting.fixes, waitingNote(waiting, upstream, clock)] satisfies StatusRow] : []),
    ...(parked ? [troubleRow('parked', parked.fixes, `on ${countText(parked.lanes, 'lane')}`)] : []),
    ...(held ? [troubleRow('held', held.fixes, `of ${countText(held.devices, 'device')}`)] : []),
    ...(custody ? [custodyRow(custody)] : []),
    ...(copies ?? []).map(copyRow),
    ...(status.trial ? [trialRow(status.trial)] : []),
  ]
}

function apiRow({ api, companies, since_at, state }: StatusJson['apis'][number], clock: Clock): StatusRow {
  const of = companies.length === 1 ? `company ${companies[0]}` : countText(companies.length, 'company', 'companies')
  return ['', state, `${api}, ${of}, since ${clock(since_at)}`, state === 'up' ? 'green' : 'yellow']
}

/** `copy crm   3 waiting   up, 120 delivered` */
function copyRow({ name, state, waiting, delivered, parked, discarded, difference }: CopyAnswer): StatusRow {
  const shares = { waiting, parked, discarded, difference }
  const others = Object.entries(shares).flatMap(([share, fixes]) => (fixes === 0 ? [] : [`${fixes} ${share}`]))
  const note = [`copy, ${delivered} delivered`, ...others].join(', ')
  const isWell = state === 'up' && parked + discarded === 0 && difference === 0
  return [name.slice(0, LABEL), state, note, isWell ? 'green' : 'yellow']
}

type CopyAnswer = NonNullable<StatusJson['copies']>[number]

/** The rows of rates. A token with `companies` gets none. */
function rateRows({ received_per_s, delivered_per_s }: NonNullable<StatusJson['rates']>): StatusRow[] {
  return [
    ['received', `${received_per_s}/s`],
    ['delivered', `${delivered_per_s}/s`],
  ]
}

function custodyRow(custody: NonNullable<StatusJson['custody']>): StatusRow {
  return ['difference', custody.difference, custodyNote(custody), custody.difference === 0 ? 'bold' : 'yellow']
}

function trialRow({ missed, seen, stored }: NonNullable<StatusJson['trial']>): StatusRow {
  return ['trial', seen, `frames: ${stored} stored or noted, ${missed} missed`, missed === 0 ? 'bold' : 'yellow']
}

function troubleRow(label: string, fixes: number, note: string): StatusRow {
  return fixes === 0 ? [label, 0] : [label, fixes, note, 'yellow']
}

function waitingNote(
  { fixes, lanes, oldest_at }: NonNullable<StatusJson['waiting']>,
  upstream: StatusJson['upstream'],
  clock: Clock,
): string {
  if (fixes === 0) return ''
  const oldest = oldest_at && `, the oldest since ${clock(oldest_at)}`
  const drained = upstream.drained_at && `, all delivered by ${clock(upstream.drained_at)} at this rate`
  return `on ${countText(lanes, 'lane')}${oldest ?? ''}${drained ?? ''}`
}

/** `12 received: 9 delivered, 3 filtered` */
function custodyNote(custody: NonNullable<StatusJson['custody']>): string {
  const shares = SHARES.filter((name) => custody[name] > 0).map((name) => `${custody[name]} ${name}`)
  return `${custody.received} received${shares.length > 0 ? ': ' : ''}${shares.join(', ')}`
}

/** The longest label. */
const LABEL = 16
/** After this time without a sign of life a process is shown as silent, as on the page. */
const SILENT_MS = 10_000

/** Splits a note into lines that fit beside a figure, only after commas. */
function folded(note: string): string[] {
  return (note.match(NOTE_LINE) ?? []).map((line) => line.trim())
}

/** At most 51 characters, which makes 80 columns with the indent, if there are enough commas. */
const NOTE_LINE = /.{1,51}(?:(?<=,) |$)|.+?(?:(?<=,) |$)/g
/** In front of the further lines of a note. */
const INDENT = ' '.repeat(29)
const SHARES = ['delivered', 'filtered', 'waiting', 'parked', 'held', 'discarded'] as const
const STYLES = { error: 'red', warning: 'yellow', info: 'dim' } as const
const MARKS = { error: '✖', warning: '!', info: '·' } as const
/** Clears the terminal and goes to its first line. */
const CLEAR = '\x1b[2J\x1b[H'
