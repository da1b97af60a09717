import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import type { StatusAnswer } from './answers.ts'
import { ask, jsonOf } from './ask.ts'
import { type Clock, localClock } from './clock.ts'
import { colours, type Paint, print } from './output.ts'

/** `waybridge status`; answers with the exit code. @throws UserError */
export async function statusCommand(options: AdminPortOptions & { readonly json?: boolean }): Promise<number> {
  const admin = await findAdminPort(options)
  const answer = await ask(admin, { path: '/admin/status' })
  const status = jsonOf(admin, answer) as StatusAnswer
  await print(options.json ? [answer.text] : statusPage(status, localClock(), colours))
  return 0
}

/** How it stands, in lines. */
export function statusPage({ upstream, rates, ...status }: StatusAnswer, clock: Clock, paint: Paint): string[] {
  const { waiting, parked, held, custody } = status
  const { state, since_at, drained_at, token_refused = [] } = upstream
  const row = (label: string, figure: string | number, note = '', style: 'bold' | 'green' | 'yellow' = 'bold') =>
    `  ${label.padEnd(16)}${paint(style, String(figure).padStart(8))}${note && `   ${paint('dim', note)}`}`
  return [
    row('tracking service', state, `since ${clock(since_at)}`, state === 'up' ? 'green' : 'yellow'),
    ...token_refused.map((company) => row('oauth_token', 'refused', `of company ${company}: expired?`, 'yellow')),
    row('received', `${rates.received_per_s}/s`),
    row('delivered', `${rates.delivered_per_s}/s`),
    row('waiting', waiting.fixes, waitingNote(waiting, drained_at, clock)),
    row('parked', parked.fixes, parked.fixes > 0 ? `on ${counted(parked.lanes, 'lane')}` : '', styleOf(parked.fixes)),
    row('held', held.fixes, held.fixes > 0 ? `of ${counted(held.devices, 'device')}` : '', styleOf(held.fixes)),
    row('difference', custody.difference, custodyNote(custody), styleOf(custody.difference)),
  ]
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

const SHARES = ['delivered', 'filtered', 'waiting', 'parked', 'held', 'discarded'] as const
