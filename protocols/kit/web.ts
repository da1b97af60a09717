import { DecodeError } from './errors.ts'
import type { Fix, HttpRequest, Message } from './protocol.ts'
import { type JsonObject, number, optionalNumber, parseJson } from './text.ts'

/** The text of a body. */
export function bodyText({ body }: Pick<HttpRequest, 'body'>): string {
  return contentOf(body).text
}

/** A JSON body; do not change it, other decoders read it too. @throws DecodeError `malformed`. */
export function jsonBody({ body }: Pick<HttpRequest, 'body'>): unknown {
  const content = contentOf(body)
  const { value, error } = (content.json ??= parsed(content.text))
  if (error) throw error
  return value
}

/** What a body holds, read once for all decoders that it is offered to. */
interface Content {
  readonly text: string
  json?: { readonly value?: unknown; readonly error?: unknown }
}

const contents = new WeakMap<Buffer, Content>()

function contentOf(body: Buffer): Content {
  let content = contents.get(body)
  if (!content) contents.set(body, (content = { text: body.toString() }))
  return content
}

function parsed(text: string): NonNullable<Content['json']> {
  try {
    return { value: parseJson(text) }
  } catch (error) {
    return { error }
  }
}

/** The parameters of a request: those of its query, then those of a form in its body. @throws DecodeError `malformed` of too many. */
export function parametersOf({ uri, body }: Pick<HttpRequest, 'uri' | 'body'>): URLSearchParams {
  const at = uri.indexOf('?')
  const text = `${at < 0 ? '' : uri.slice(at + 1)}&${bodyText({ body }).trim()}`
  let count = 0
  for (let end = text.indexOf('&'); end >= 0; end = text.indexOf('&', end + 1))
    if (++count > MOST_PARAMETERS) throw new DecodeError('malformed', `more than ${MOST_PARAMETERS} parameters`)
  return new URLSearchParams(text)
}

/** Devices send some dozens; 64 KB of empty ones would take 20 ms. */
const MOST_PARAMETERS = 1000

/**
 * A parameter as a finite number: of a place or a time. Undefined where it is empty or absent. @throws DecodeError `malformed`.
 */
export function numericParameter(parameters: URLSearchParams, name: string): number | undefined {
  const value = parameters.get(name)
  return value ? number(value.trim()) : undefined
}

/** A parameter that is a measurement; undefined where it is none: see `optionalNumber`. */
export function optionalParameter(parameters: URLSearchParams, name: string): number | undefined {
  return optionalNumber(parameters.get(name))
}

/**
 * A member that is a finite number or the text of one: of a place or a time. Undefined where it is absent, null, empty or 'null'.
 * @throws DecodeError `malformed`.
 */
export function numericMember(object: JsonObject, name: string): number | undefined {
  const value = object[name]
  if (value === undefined || value === null || value === '' || value === 'null') return undefined
  if (typeof value !== 'number' && typeof value !== 'string')
    throw new DecodeError('malformed', `${name} is a ${typeof value}, not a number`)
  return number(String(value))
}

/** A member that is text, or a number as text; undefined where it is empty or anything else. */
export function textMember(object: JsonObject, name: string): string | undefined {
  const value = object[name]
  return (typeof value === 'string' || typeof value === 'number') && value !== '' ? String(value) : undefined
}

/** A member that is an object; an empty one where it is anything else. */
export function objectMember(object: JsonObject, name: string): JsonObject {
  const value = object[name]
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}

/** Fixes that name their devices, as those of a message: it names the device where there is one, and each fix where there are several. */
export function fixesByDevice(fixes: readonly Fix[]): Pick<Message, 'device' | 'fixes'> {
  const devices = new Set(fixes.flatMap(({ device }) => device ?? []))
  if (devices.size > 1) return { fixes }
  const [device] = devices
  return { device, fixes: fixes.map((fix) => ({ ...fix, device: undefined })) }
}

/**
 * The content of each element of XML with a name, in order. An element must not contain another one of the same name.
 */
export function xmlElements(xml: string, name: string): string[] {
  const found: string[] = []
  const end = `</${name}>`
  let at = 0
  while ((at = xml.indexOf(`<${name}`, at)) >= 0) {
    const next = xml[at + name.length + 1]
    if (next !== '>' && next !== ' ' && next !== '\n' && next !== '\r' && next !== '\t') {
      at += name.length + 1
      continue
    }
    const start = xml.indexOf('>', at) + 1
    const close = start === 0 ? -1 : xml.indexOf(end, start)
    if (close < 0) return found
    found.push(xml.slice(start, close))
    at = close + end.length
  }
  return found
}

/** The text of the first element of XML with a name, without spaces around it; '' where there is none. */
export function xmlText(xml: string, name: string): string {
  const start = xml.indexOf(`<${name}>`)
  const end = start < 0 ? -1 : xml.indexOf(`</${name}>`, start)
  return end < 0 ? '' : xml.slice(start + name.length + 2, end).trim()
}
