import { expect, it } from 'vitest'
import { loadProtocols } from '../../protocols/index.ts'
import { type Framer, type Protocol, trimEnd, unescape } from '../../protocols/kit/index.ts'
import { casesOf, type ProtocolCases } from '../support/protocol-cases.ts'
import { framesOfParts } from '../support/rough.ts'
import { corrected } from '../support/vectors/corrections.ts'
import { differences, differenceText, saidDifferences } from '../support/vectors/differences.ts'
import { sharesOf, type VectorResult, vectorResults } from '../support/vectors/results.ts'
import { streamsOf, type Vector, type VectorStream, vectorFamilies, vectorsFolder } from '../support/vectors/vectors.ts'
import { withEscapedReplies } from '../support/vectors/wire.ts'

if (!vectorFamilies()) {
  console.warn(`No vectors at ${vectorsFolder}: the frames of real devices are not tested.`)
  it.skip(`skips the frames of real devices, because no vectors are at ${vectorsFolder}`, () => undefined)
}

const all: VectorResult[] = []

for (const protocol of vectorFamilies() ? await loadProtocols() : []) {
  const { name, tcp } = protocol
  const cases = await casesOf(name)
  const results = vectorResults(protocol, cases)
  all.push(...results)
  if (results.length > 0)
    it(`${name} reads its vectors as recorded, apart from the named exceptions`, () => {
      expectNone(results.flatMap(unexpected))
    })
  it(`${name} has few exceptions, and no exception or correction that is not needed`, () => {
    expectNone(departures(protocol, results, cases))
  })
  const streams = streamsOf(name).filter(({ input }) => !Object.hasOwn(cases.streams ?? {}, input.slice(0, 40)))
  if (tcp && streams.length > 0)
    it(`${name} cuts its recorded streams into the recorded frames`, () => {
      expectNone(streams.flatMap((stream) => miscut(protocol, tcp.frame, { ...stream, unescaped: cases.unescaped })))
    })
}

it.skipIf(all.length === 0)(
  'all protocols read 99 % of positions and answers and 95 % of what else the vectors say',
  () => {
    const { positions, answers, saying, said } = sharesOf(all)
    expect(positions / all.length).toBeGreaterThanOrEqual(0.99)
    expect(answers / all.length).toBeGreaterThanOrEqual(0.99)
    expect(said / saying).toBeGreaterThanOrEqual(0.95)
  },
)

/** Fails with all lines in its message, because JSON reports shorten a comparison of lists. */
function expectNone(lines: readonly string[]): void {
  if (lines.length > 0) expect.fail(lines.join('\n'))
}

function unexpected({ vector: { id }, wrong, exception }: VectorResult): string[] {
  if (exception === undefined) return wrong.map((each) => `${id} ${differenceText(each)}`)
  return wrong.length > 0 ? [] : [`${id} is an exception, and does not differ`]
}

function departures(
  protocol: Protocol,
  results: readonly VectorResult[],
  { corrections = [], exceptions = {} }: ProtocolCases,
): string[] {
  const ids = new Set(results.map(({ vector }) => vector.id))
  const named = [...Object.keys(exceptions), ...corrections.flatMap(({ frames = [] }) => frames)]
  const most = Math.max(1, Math.floor(results.length * 0.03))
  const count = Object.keys(exceptions).length
  return [
    ...named.filter((id) => !ids.has(id)).map((id) => `${id} does not exist`),
    ...(count > most ? [`${count} exceptions are more than ${most}: one, or 3 % of all`] : []),
    ...corrections.flatMap((correction) => {
      const others = corrections.filter((each) => each !== correction)
      const differing = results
        .filter(({ vector, output }) => {
          const saidOther = (read: Vector) => saidDifferences(read, output).length
          const without = corrected(vector, others)
          return differs(protocol, without, output) || saidOther(without) > saidOther(corrected(vector, corrections))
        })
        .map(({ vector }) => vector.id)
      const needless = correction.frames?.filter((id) => !differing.includes(id)) ?? []
      return [
        ...(differing.length === 0 ? [`no vector needs the correction: ${correction.reason}`] : []),
        ...needless.map((id) => `${id} does not need the correction: ${correction.reason}`),
      ]
    }),
  ]
}

function differs(protocol: Protocol, vector: Vector, output: VectorResult['output']): boolean {
  return differences(withEscapedReplies(protocol, vector), output).length > 0
}

function miscut(
  { escaping }: Protocol,
  framer: Framer,
  { input, frames, unescaped }: VectorStream & Pick<ProtocolCases, 'unescaped'>,
): string[] {
  const cut = framesOfParts(framer, Buffer.from(input, 'hex'), 0).slice(0, frames.length)
  const found = cut.map((frame, i) => {
    const bare = unescaped ? unescaped(Buffer.from(frame, 'hex')).toString('hex') : withoutEscapes(frame, escaping)
    return withoutEnd(bare, frames[i])
  })
  const expected = frames.map((frame) => withoutEnd(frame))
  return found.join() === expected.join() ? [] : [`${input}: expected ${expected.join()}, got ${found.join()}`]
}

/** Removes the escapes, which the frames of the vectors do not have. */
function withoutEscapes(hex: string, escaping: Protocol['escaping']): string {
  const frame = Buffer.from(hex, 'hex')
  if (!escaping) return hex
  const { escape, codes, optional = [] } = escaping
  return unescape(frame, escape, new Map([...codes, ...optional])).toString('hex')
}

/** Removes a start of one or four bytes and an end of at most two, which the frames of the vectors do not have. */
function withoutEnd(hex: string, expected = ''): string {
  const [own] = [hex, hex.slice(2), hex.slice(8)].filter(
    (text) => text.startsWith(expected) && text.length - expected.length <= 4,
  )
  if (expected !== '' && own !== undefined) return withoutEnd(expected)
  return trimEnd(Buffer.from(hex, 'hex')).toString('hex')
}
