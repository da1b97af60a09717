import { resolve } from 'node:path'
import { type RefinementCtx, z } from 'zod'
import { cidr } from '../domain/networks.ts'
import { isZone } from '../domain/times.ts'
import { bytes, duration, int64, int64Mistake } from '../domain/units.ts'
import { english, type Text } from '../texts/text.ts'
import { unknownName } from './problem.ts'

/**
 * A scalar that is read from its text; a number or a boolean counts as its text. @param read returns undefined for an
 * unexpected text @param mistake tells what is expected; it must not contain the text if that may be a secret
 */
export function leaf<T>(read: (text: string) => T | undefined, mistake: string | ((text: string) => Text)) {
  return z.unknown().transform((value, context): T => {
    const scalar = isScalar(value) ? String(value) : undefined
    const result = scalar === undefined ? undefined : read(scalar)
    if (result !== undefined) return result
    const text = value === undefined ? 'missing' : typeof mistake === 'string' ? mistake : mistake(scalar ?? '')
    context.addIssue({ code: 'custom', message: english(text), params: { text } })
    return z.NEVER
  })
}

/** A mapping with these keys and no others; the message about unknown keys has one line for each. */
export function fields<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => unknownName('key', key, known)).join('\n')
        : `expected a mapping with ${known.join(', ')}`,
  })
}

/** A mapping that may be left out or empty, because every key has a default. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.preprocess((value) => value ?? {}, fields(shape))
}

/** An optional list, with the default `usual`, which is in its `meta` for the list of all settings. */
export function list<Element extends z.ZodType>(element: Element, usual: () => readonly unknown[] = () => []) {
  const all = z.array(element, { error: 'expected a list' })
  return z.preprocess((value) => value ?? usual(), all).meta({ usual: usual() })
}

/** A refinement: no two entries of a list have the same `keyOf`. `what`: what an entry is, such as `bridge`. */
export function distinctNames<Entry extends { readonly name: string }>(
  what: string,
  keyOf: (entry: Entry) => string = ({ name }) => name,
) {
  return (all: readonly Entry[], context: RefinementCtx): void => {
    const keys = all.map(keyOf)
    for (const [index, { name }] of all.entries())
      if (keys.indexOf(keys[index]) < index)
        context.addIssue({ code: 'custom', path: [index, 'name'], message: `another ${what} has the name ${name}` })
  }
}

/** A list of words, also as one text with spaces or commas between them: a cell of a CSV file. Not empty. */
export function wordList<Word extends z.ZodType>(word: Word) {
  return z.preprocess(wordsOf, z.array(word, { error: 'expected a list' }).min(1, 'expected at least one'))
}

function wordsOf(value: unknown): unknown {
  return typeof value === 'string' ? value.split(/[\s,]+/).filter(Boolean) : value
}

/** An optional key, with its default and its description. */
export function setting<Type extends z.ZodType>(type: Type, usual: z.input<Type>, meaning: string) {
  return type.prefault(usual as z.util.NoUndefined<z.input<Type>>).describe(meaning)
}

/** A value that is null if it is left out. */
export function orNull<Type extends z.ZodType>(type: Type) {
  return type.nullable().prefault(null)
}

/** The address that a server listens on. */
export function address(host: string, usualPort: number) {
  return {
    host: setting(text, host, 'IP address to listen on.'),
    port: setting(port, usualPort, 'Port; 0: any free port.'),
  }
}

/** Settings of a process log. */
export function logging() {
  const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
  return section({
    level: setting(oneOf(...levels), 'info', `Lowest level that is logged: ${levels.join(', ')}.`),
    format: setting(oneOf('auto', 'json', 'pretty'), 'auto', '`auto`: `pretty` on a terminal, else `json`.'),
  })
}

/** An int64 id, as canonical decimal digits. */
export const id = leaf(int64, int64Mistake)

/** Text that is not empty, and that UTF-8 can hold. */
export const text = textThat((value) => value !== '' && value.isWellFormed(), 'expected text')

/** The path of a file; a relative one begins in the folder `dir`. */
export function filePath(dir: string) {
  return text.transform((value) => resolve(dir, value))
}

/** The files of a client's TLS: its certificate, and the authority that it trusts. `server`: what it connects to. */
export function clientTls(dir: string, server: string) {
  return {
    ca: filePath(dir)
      .optional()
      .describe(`File with the authority of the ${server}, PEM; without it, those of the system.`),
    cert: filePath(dir).optional().describe(`File with the client certificate, PEM, where the ${server} wants one.`),
    key: filePath(dir).optional().describe('File with its private key, PEM.'),
  }
}

/** A refinement: neither a certificate nor its key stands alone. */
export function certWithKey(
  { cert, key }: { readonly cert?: string; readonly key?: string },
  context: RefinementCtx,
): void {
  if ((cert === undefined) === (key === undefined)) return
  const [path, missing] = cert === undefined ? ['key', 'cert'] : ['cert', 'key']
  context.addIssue({ code: 'custom', path: [path], message: `needs ${missing}` })
}

/** Networks: CIDR or single addresses. */
export const networks = list(leaf(cidr, 'expected a network such as 10.20.0.0/16, or an address'))

/** Text without spaces around it that `isPrintable`. */
export const printableText = leaf(
  (value) => (isPrintable(value) ? value.trim() : '') || undefined,
  'expected printable text',
)

/** Returns whether a text has no control characters, which a terminal would obey, and no lone surrogates, which are no text. */
export function isPrintable(value: string): boolean {
  return !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value)
}

/** A mapping with any keys. */
export const mapping = z.record(z.string(), z.unknown(), 'expected a mapping')

/** A secret that is sent as one word of an HTTP header. */
export const headerToken = textLike(/^[!-~]+$/, 'expected printable ASCII characters without spaces')

/** A time zone: an IANA name or an offset. */
export const zone = textThat(isZone, 'expected a time zone such as Europe/Berlin or +03:00')

/** The URL of a Redis; may contain a password. */
export const redisUrl = urlWithPassword(
  /^(?:rediss?:\/\/[^/?#]+(?:\/\d*)?(?:\?[^#]*)?|unix:\/\/\/[^#]+)$/,
  'expected a URL such as redis://host:6379/0 or unix:///run/redis.sock',
)

/**
 * A URL that may contain a user name and a password. If the password has characters that end it, the mistake names no part of
 * it.
 */
export function urlWithPassword(pattern: RegExp, expected: string) {
  return leaf(
    (value) => (isEncoded(value) && pattern.test(value) && URL.canParse(value) ? value : undefined),
    (value) => (isEncoded(value) ? expected : PERCENT_ENCODE),
  )
}

/** Whether no character of the user name or the password ends them, for a reader of URLs. */
function isEncoded(url: string): boolean {
  const [, userInfo = ''] = /^[^:]+:\/\/(.*)@/s.exec(url) ?? []
  return !/[/?#]|%(?![\da-f]{2})/i.test(userInfo) && !/[?&]password=.*#/s.test(url)
}

const PERCENT_ENCODE =
  'percent-encode what is special in the user name and the password: %23 for #, %2F for /, %3F for ?, %40 for @, %25 for %'

/** The beginning of paths, without a slash at its end; may be empty. */
export const pathPrefix = textLike(/^(\/[\w.~-]+)*$/, 'expected "" or a path such as /api/v1')

/** A base URL, without a slash at its end. */
export const httpUrl = leaf((value) => {
  const url = URL.parse(value)
  const isBase = url && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash
  return isBase ? value.replace(/\/+$/, '') : undefined
}, 'expected an http or https URL without user name, query or fragment')

/**
 * The source of the map's tiles: the URL of a tile server, with placeholders for a tile's numbers, or a PMTiles file, at a
 * URL or on disk; a relative path begins in the folder `dir`.
 */
export function tiles(dir: string) {
  return leaf((value) => {
    const url = /^\w+:\/\//.test(value) ? URL.parse(value) : undefined
    if (url === undefined) return value.endsWith('.pmtiles') && isPrintable(value) ? resolve(dir, value) : undefined
    const isAllowed = url && /^https?:$/.test(url.protocol) && !url.username && !/[{}]/.test(url.host)
    return isAllowed && (url.pathname.endsWith('.pmtiles') || isTemplate(value)) ? value : undefined
  }, 'expected the URL of a tile server, such as https://tiles.example/{z}/{x}/{y}.png (.mvt, .pbf: vector tiles), or a file with the extension .pmtiles')
}

function isTemplate(url: string): boolean {
  return ['{z}', '{x}', '{y}'].every((part) => url.includes(part)) && !/[{}]/.test(url.replaceAll(/\{[zxy]\}/g, ''))
}

/** One of a few words. */
export function oneOf<const Values extends readonly string[]>(...values: Values) {
  return leaf(
    (value) => values.find((known): known is Values[number] => known === value),
    `expected one of ${values.join(', ')}`,
  )
}

/** true or false. */
export const flag = leaf(
  (value) => (/^(true|false)$/.test(value) ? value === 'true' : undefined),
  'expected true or false',
)

/** A whole number in decimal digits, limits included. */
export function integer(min: number, max: number, what = 'whole number') {
  const read = (value: string) => within(/^\d{1,15}$/.test(value) ? Number(value) : undefined, min, max)
  return leaf(read, `expected a ${what} from ${min} to ${max}`)
}

/** A number in decimal digits, limits included. */
export function number(min: number, max: number) {
  const read = (value: string) => within(/^\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : undefined, min, max)
  return leaf(read, `expected a number from ${min} to ${max}`)
}

/** A port; 0 means any free port. */
export const port = integer(0, 65_535, 'port')

/** A size, bytes. */
export const size = leaf(bytes, 'expected a size such as 512mb or 2gb')

/** A duration that a timer can wait, ms. */
export function timer(minMs: number) {
  const limits = minMs === 0 ? 'at most 24h' : 'above 0 and at most 24h'
  const read = (value: string) => within(duration(value), minMs, 86_400_000)
  return leaf(read, `expected a duration such as 500ms, 60s or 5m, ${limits}`)
}

/** A duration without an upper limit, ms. */
export const span = leaf(duration, 'expected a duration such as 500ms, 60s, 5m, 24h or 90d')

/** A duration above 0 without an upper limit, ms. `instead`: what to write where nothing of any age is wanted. */
export function age(instead: string) {
  return leaf(
    (value) => within(duration(value), 1, Infinity),
    `expected a duration above 0, such as 24h or 90d; ${instead}`,
  )
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

function textThat(isExpected: (value: string) => boolean, expected: string) {
  return leaf((value) => (isExpected(value) ? value : undefined), expected)
}

function textLike(pattern: RegExp, expected: string) {
  return textThat((value) => pattern.test(value), expected)
}

function within(value: number | undefined, min: number, max: number): number | undefined {
  return value !== undefined && value >= min && value <= max ? value : undefined
}
