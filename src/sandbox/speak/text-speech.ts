import type { Packet, StreamSpeech } from './speech.ts'
import { type FixWords, fixWords } from './write.ts'

/** A line of a tracker, and the beginning of its answer; without the second, it has no answer. */
type TextLine = readonly [text: string, answer?: string]

/** How trackers speak that write each fix as a line of text over TCP. */
interface TextFamily extends Pick<StreamSpeech, 'name' | 'idDigits' | 'isUnanswered'> {
  /** Default: 20; 1 if an answer does not tell which fix it is for. */
  readonly maxFixes?: number
  /** The line of a fix; `n`: its number on the connection, from 1 on. */
  readonly fix: (words: FixWords, id: string, n: number) => TextLine
  readonly login?: (id: string) => TextLine
  /**
   * Sent after the fixes if these have no answers: a server answers in order, so the answer to the heartbeat shows that
   * everything before it has arrived.
   */
  readonly heartbeat?: (id: string) => TextLine
  readonly answers?: StreamSpeech['answers']
}

/** A packet is the lines of its fixes, and the heartbeat; the answer to its last line accepts it. */
export function textSpeech({ fix, login, heartbeat, ...family }: TextFamily): StreamSpeech {
  const { maxFixes = 20, answers = (bytes) => bytes.length } = family
  return {
    ...family,
    protocol: family.name,
    transport: 'tcp',
    maxFixes,
    login: login && ((id) => packetOf([login(id)])),
    packet(fixes, { id, serial }) {
      const first = (serial - 1) * maxFixes + 1
      const lines = fixes.map((each, index) => fix(fixWords(each), id, first + index))
      return packetOf(heartbeat ? [...lines, heartbeat(id)] : lines)
    },
    answers,
  }
}

function packetOf(lines: readonly TextLine[]): Packet {
  const bytes = Buffer.from(lines.map(([text]) => text).join(''), 'latin1')
  const expected = lines.at(-1)?.[1]
  if (expected === undefined) return { bytes }
  return { bytes, accepted: (answer) => answer.toString('latin1').startsWith(expected) || undefined }
}

/** Returns a reader of answers that end with a mark. */
export function until(mark: string): StreamSpeech['answers'] {
  return (bytes) => {
    const at = bytes.indexOf(mark)
    return at < 0 ? 0 : at + mark.length
  }
}
