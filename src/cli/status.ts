import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { StatusAnswer } from './answers.ts'
import { jsonOf } from './ask.ts'
import { type Clock, clockIn } from './clock.ts'
import { askStatus } from './gateway.ts'
import { colours, type Paint, print } from './output.ts'

/** `waybridge status`; answers with the exit code. @throws UserError */
export async function statusCommand(options: AdminPortOptions & { readonly json?: boolean }): Promise<number> {
  const admin = await findAdminPort(options)
  const answer = await askStatus(admin)
  const status = jsonOf(admin, answer, StatusAnswer)
  print(options.json ? [answer.text] : statusPage(status, clockIn(status.time_zone, Date.now()), colours))
  return 0
}

/** How it stands, in lines. */
export function statusPage(status: StatusAnswer, clock: Clock, paint: Paint): string[] {
  return rowsOf(status, clock).flatMap(([label, figure, note = '', style = 'bold']) => {
    const head = `  ${label.padEnd(16)}${paint(style, String(figure).padStart(8))}`
    const [first, ...more] = folded(note).map((line) => paint('dim', line))
    return [first === undefined ? head : `${head}   ${first}`, ...more.map((line) => INDENT + line)]
  })
}

type Row = [label: string, figure: string | number, note?: string, style?: 'bold' | 'green' | 'yellow']

function rowsOf({ upstream, rates, waiting, parked, held, custody }: StatusAnswer, clock: Clock): Row[] {
  const { state, since_at, drained_at, token_refused = [] } = upstream
  return [
    ['tracking service', state, `since ${clock(since_at)}`, state === 'up' ? 'green' : 'yellow'],
    ...token_refused.map((id): Row => ['oauth_token', 'refused', `of company ${id}: expired?`, 'yellow']),
    ['received', `${rates.received_per_s}/s`],
    ['delivered', `${rates.delivered_per_s}/s`],
    ['waiting', waiting.fixes, waitingNote(waiting, drained_at, clock)],
    ['parked', parked.fixes, noteOf(parked.fixes, `on ${counted(parked.lanes, 'lane')}`), styleOf(parked.fixes)],
    ['held', held.fixes, noteOf(held.fixes, `of ${counted(held.devices, 'device')}`), styleOf(held.fixes)],
    ['difference', custody.difference, custodyNote(custody), styleOf(custody.difference)],
  ]
}

/** Lines that fit behind a figure on a terminal of 80 columns, cut between the parts of a note. */
function folded(note: string): string[] {
  const lines: string[] = []
  for (const part of note === '' ? [] : note.split(/(?<=,) /)) {
    const longer = `${lines.at(-1)} ${part}`
    if (lines.length > 0 && INDENT.length + longer.length <= COLUMNS) lines.splice(-1, 1, longer)
    else lines.push(part)
  }
  return lines
}

function noteOf(troubled: number, note: string): string {
  return troubled === 0 ? '' : note
}

function waitingNote(
  { fixes, lanes, oldest_at }: StatusAnswer['waiting'],
  drainedAt: string | undefined,
  clock: Clock,
) {
  if (fixes === 0) return ''
  const oldest = oldest_at === undefined ? '' : `, the oldest since ${clock(oldest_at)}`
  const drained = drainedAt === undefined ? '' : `, all delivered by ${clock(drainedAt)} at this rate`
  return `on ${counted(lanes, 'lane')}${oldest}${drained}`
}

function styleOf(troubled: number): 'bold' | 'yellow' {
  return troubled === 0 ? 'bold' : 'yellow'
}

/** `12 received: 9 delivered, 3 filtered` */
function custodyNote(custody: StatusAnswer['custody']): string {
  const { received } = custody
  const shares = SHARES.map((name) => [name, custody[name]] as const).filter(([, count]) => count > 0)
  return `${received} received${shares.length > 0 ? ': ' : ''}${shares.map(([name, count]) => `${count} ${name}`).join(', ')}`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

const COLUMNS = 80
/** Below a note. */
const INDENT = ' '.repeat(29)
const SHARES = ['delivered', 'filtered', 'waiting', 'parked', 'held', 'discarded'] as const
