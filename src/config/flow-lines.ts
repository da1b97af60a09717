import { yieldToEventLoop } from '../async.ts'
import type { Entry } from './node.ts'

/**
 * Reads the simple lines of a YAML mapping, `"356307042441013": { name: Van 12, company_id: 7 }`, and replaces them by
 * comments of the same length, so that offsets do not change. The YAML parser needs a second for 20,000 such lines; it then
 * reads only the other lines. A line is simple if these patterns certainly read the same as the parser. @param take is called
 * with each entry, in the order of the lines @returns the text for the parser
 */
export async function takeFlowLines(text: string, take: (entry: Entry) => void): Promise<string> {
  // Only one document of keys without indentation: no document marks, lists, or complex keys.
  if (MARKER.test(text) || !FIRST_KEY.test(text)) return text
  const rest: string[] = []
  let kept = 0
  for (let at = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0; at < text.length; ) {
    const end = endOfLine(text, at)
    CONTINUED.lastIndex = end
    const entry = CONTINUED.test(text) ? undefined : entryOf(text, at)
    if (entry) {
      take(entry)
      // Adjacent lines become one comment, which the parser skips in one step.
      rest.push(kept > 0 && at === kept + 1 ? ' '.repeat(end - kept) : text.slice(kept, at) + '#'.padEnd(end - at))
      kept = end
    }
    at = end + 1
    await yieldToEventLoop()
  }
  rest.push(text.slice(kept))
  return rest.join('')
}

function entryOf(text: string, at: number): Entry | undefined {
  KEY.lastIndex = at
  const key = KEY.exec(text)
  if (!key) return undefined
  const entries: Entry[] = []
  PAIR.lastIndex = KEY.lastIndex
  for (let last = false; !last; ) {
    const pair = PAIR.exec(text)
    if (!pair || isMore(pair) || entries.some(({ key: earlier }) => earlier === pair[2])) return undefined
    entries.push(pairOf(pair))
    last = pair[7] === '}'
  }
  END.lastIndex = PAIR.lastIndex
  if (!END.test(text)) return undefined
  return { key: key[1] ?? key[2], keyAt: at, value: { kind: 'mapping', at: KEY.lastIndex - 1, entries } }
}

/** Whether a value means something else than its text: a reference, or null. */
function isMore([, , , , doubled, single, plain]: RegExpExecArray): boolean {
  const value = doubled ?? single ?? plain
  return value.includes('${') || NULL.test(plain)
}

function pairOf(pair: RegExpExecArray): Entry {
  const [, space, key, colon, doubled, single, plain] = pair
  const keyAt = pair.index + space.length
  const at = keyAt + key.length + colon.length
  return { key, keyAt, value: { kind: 'leaf', at, text: doubled ?? single ?? plain, quoted: plain === undefined } }
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

const BYTE_ORDER_MARK = '\ufeff'
const MARKER = /^(?:\.\.\.|[%?:}\]-])/m
const FIRST_KEY = /^\ufeff?(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?:"[^"\\\n]+"|\w[\w.-]*):(?:\s|$)/
/** From the end of a line: the next line with content is indented, and so continues this one. */
const CONTINUED = /(?:\n[ \t]*(?:[#\r][^\n]*)?(?=\n))*\n[ \t]+[^#\s]/y
const NULL = /^(?:null|Null|NULL)$/
const KEY = /(?:"([^"\\\n]+)"|(\w[\w.-]*)): +\{/y
const PLAIN = /[^\s,[\]{}:#"'&*!|>%@`?\\=~<-](?: *[^\s,[\]{}:#"'\\])*/.source
const PAIR = new RegExp(`( *)([a-z_]+)(: +)(?:"([^"\\\\\\n]*)"|'([^'\\n]*)'|(${PLAIN})) *([,}])`, 'y')
const END = /(?: +#[^\n]*| *\r?)(?=\n|$)/y
