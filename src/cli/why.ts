import type { ChainJson } from '../admin/schemas/chain.ts'
import { type AdminPort, type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { namedDevices, readChain, readStatus, UnavailableError } from './client.ts'
import { marked, type Painter, paintOutput, printable, printExact, printLines, wrapped } from './output.ts'

/**
 * `waybridge why DEVICE`: for each device with that id or name, prints its sentence, a line for each of the seven links, then
 * the action. @returns the exit code @throws UserError
 */
export async function whyCommand(
  words: readonly string[],
  options: AdminPortOptions & { readonly json?: boolean },
): Promise<number> {
  const admin = await findAdminPort(options)
  try {
    return await explainDevices(admin, words, options)
  } catch (error) {
    if (!(error instanceof UnavailableError)) throw error
    // While Redis is away nothing is known of the device; findings about the whole system explain it.
    const chain = await chainOfAll(admin, error)
    printExact(options.json ? [JSON.stringify(chain)] : chainPage(chain, paintOutput))
    return 1
  }
}

async function explainDevices(
  admin: AdminPort,
  words: readonly string[],
  options: { readonly json?: boolean },
): Promise<number> {
  const devices = await namedDevices(admin, words.join(' '))
  const answers = await Promise.all(devices.map(({ id }) => readChain(admin, id)))
  if (options.json) printExact(answers.map(({ text }) => text))
  else
    for (const [index, { chain, missing }] of answers.entries()) {
      if (answers.length > 1) printLines([`${devices[index].id}:`])
      printExact(chain ? chainPage(chain, paintOutput) : [printable(missing)])
    }
  return 0
}

/**
 * Returns the state of all devices while the admin port cannot look at one: the links that are broken for all. @throws
 * `unavailable` if no finding explains it
 */
async function chainOfAll(admin: AdminPort, unavailable: Error): Promise<Omit<ChainJson, 'device' | 'time_zone'>> {
  const { status } = await readStatus(admin)
  const findings = status.findings.filter(({ severity }) => severity === 'error')
  if (findings.length === 0) throw unavailable
  const links = findings.map((finding) => {
    const { link, since_at, evidence } = finding
    return { link, state: 'broken' as const, since_at, evidence, finding }
  })
  const sentence = findings.map(({ message }) => message).join('; ')
  return { sentence, broken: findings[0].link, links, findings }
}

/** The chain of a device as lines of at most 100 columns. */
export function chainPage(
  { broken, links, sentence }: Pick<ChainJson, 'broken' | 'links' | 'sentence'>,
  paint: Painter,
): string[] {
  const first = links.find(({ link }) => link === broken)
  const lines = links.map(({ link, state, evidence }) => {
    const mark = paint(COLOURS[state], MARKS[state])
    const [text = '', ...more] = wrapped(printable(evidence.join('; ')), WIDTH - INDENT)
    return [`  ${mark} ${link.padEnd(12)}${text}`.trimEnd(), ...more.map((each) => ' '.repeat(INDENT) + each)].join(
      '\n',
    )
  })
  const action = first?.finding?.action
  const [state, ...rest] = withoutWhole(printable(sentence), action).split('; ')
  const head = wrapped(state, WIDTH).map((line) => paint('bold', line))
  const why = wrapped(rest.map((text) => withoutAdvice(text, action)).join('; '), WIDTH)
  return [...head, ...why, ...lines, ...(action === undefined ? [] : marked('→', printable(action), WIDTH))]
}

/** Removes the whole action, which is printed once, at the end: it may have several parts. */
function withoutWhole(sentence: string, action = ''): string {
  return action === '' ? sentence : sentence.replaceAll(`: ${printable(action)}`, '')
}

/** Removes a part of the action from the end of a text. */
function withoutAdvice(text: string, action = ''): string {
  const at = text.lastIndexOf(': ')
  return at > 0 && action.includes(text.slice(at + 2)) ? text.slice(0, at) : text
}

const MARKS = { ok: '✓', broken: '✖', idle: '·', unknown: '?' } as const
const COLOURS = { ok: 'green', broken: 'red', idle: 'dim', unknown: 'yellow' } as const
const WIDTH = 100
const INDENT = 16
