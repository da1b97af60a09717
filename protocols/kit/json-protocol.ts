import { DecodeError, eachReadable, enveloped } from './errors.ts'
import { holdsPlace } from './place-search.ts'
import type { Fix, HttpRequest, Message, Protocol, Session } from './protocol.ts'
import { type Said, said as withoutUnknown } from './said.ts'
import { type JsonObject, number, objectOf, optionalNumber, parseJson } from './text.ts'
import { dop, heading, kmh, knots, known, rfc3339, unixTime } from './units.ts'
import { jsonBody } from './web.ts'

/**
 * Where a value stands in an object: the names of members, with / between them, or the index of an element. Of several
 * places the first counts that has a value: null and '' are none.
 */
type Path = string | readonly string[]

/** Where the values of a fix stand. Without latitude or longitude there is no fix; other values may be missing. */
interface FixPaths {
  /** Numbers, or texts of numbers, in degrees. */
  readonly latitude: Path
  readonly longitude: Path
  /** Unix seconds or ms, or RFC 3339; it must be there. */
  readonly time?: Path
  /** The same; without it, the fix is as of its arrival. */
  readonly timeOrArrival?: Path
  /** False and 0 are no fix; or code that says whether an object has one. */
  readonly valid?: string | ((object: JsonObject) => boolean)
  readonly altitude?: Path
  readonly speedMs?: Path
  readonly speedCms?: Path
  readonly speedKmh?: Path
  readonly speedKnots?: Path
  readonly course?: Path
  readonly accuracy?: Path
  /** Metres; 0: not known. */
  readonly accuracyOr0?: Path
  readonly hdop?: Path
  readonly satellites?: Path
}

/** Where an object says what it says beside its position: places, or code. Flags are true, 1, 'true', 'on' or 'yes'; numbers may be texts. */
type SaidPaths = { readonly [key in Exclude<keyof Said, 'alarms'>]?: Path } & {
  /** The alarms of an object: mostly `alarmsOf` of what it names. */
  readonly alarms?: (object: JsonObject) => Said['alarms']
}

/** Reads the fix of an object; undefined if it has no place. @throws DecodeError `malformed` */
type ReadFix = (object: JsonObject, session: Session) => Fix | undefined

/** What `jsonProtocol` makes a protocol of. */
interface JsonDescription
  extends Pick<Protocol, 'name' | 'devices' | 'acknowledges' | 'isPlaceOfOthers' | 'tcp' | 'http'> {
  /** Whether a protocol with a port is spoken over MQTT as well; one without a port is. */
  readonly mqtt?: true
  /** Returns the JSON in a frame, or in the body of a request, that is more than JSON. @throws DecodeError */
  readonly content?: (frame: Buffer, request?: HttpRequest) => unknown
  /** The list of entries that each have a device and a fix; '': the JSON itself is the list, or one entry. */
  readonly each?: string
  /** The device. A request must name it. */
  readonly device?: Path
  /** Left out: the protocol has no positions. */
  readonly fix?: FixPaths | ReadFix
  /** What each object with a fix, or without one, says beside the position. */
  readonly said?: SaidPaths | ((object: JsonObject) => Said | undefined)
  /** Why there is no fix, else 'no place'. Of one object it may be code; undefined: its kind is not known. */
  readonly none?: string | ((object: JsonObject) => string | undefined)
  /** The answer to what is of a known kind. */
  readonly answer?: string | ((object: JsonObject) => string | undefined)
}

/** A protocol of JSON. Where some requests are none, the protocol's own `request` calls this one. */
interface JsonProtocol extends Protocol {
  request(request: HttpRequest, session: Session): Message
}

/** A protocol of JSON whose values stand in fixed places. A frame or the body of a request is one message. */
export function jsonProtocol(description: JsonDescription & { readonly http: object }): JsonProtocol
export function jsonProtocol(description: JsonDescription): Protocol
export function jsonProtocol(description: JsonDescription): Protocol {
  const { name, devices, acknowledges, isPlaceOfOthers, tcp, http } = description
  return {
    name,
    devices,
    acknowledges,
    isPlaceOfOthers,
    tcp,
    http,
    decode: http && !description.mqtt ? undefined : reader(description, replyOf),
    request: http && requestReader(reader(description, responseOf)),
  }
}

/** How a text answers a frame, or a request. */
type Answering = (text: string) => Pick<Message, 'reply' | 'response'>

const replyOf: Answering = (text) => ({ reply: Buffer.from(text) })

const responseOf: Answering = (text) => ({ response: { headers: { 'content-type': 'application/json' }, body: text } })

type Reader = (frame: Buffer, session: Session, request?: HttpRequest) => Message

function requestReader(read: Reader): JsonProtocol['request'] {
  return (request, session) => read(request.body, session, request)
}

function reader(description: JsonDescription, answering: Answering): Reader {
  const { content = jsonOf, each, fix, none = 'no place', answer, isPlaceOfOthers } = description
  const readFix = typeof fix === 'object' ? jsonFix(fix) : fix
  const saidOf = typeof description.said === 'object' ? saidReader(description.said) : description.said
  const deviceOf = deviceReader(description.device)
  const whyNot = typeof none === 'string' ? () => none : none
  const textOf = typeof answer === 'string' ? () => answer : answer
  const answerTo = (object: JsonObject): Message => {
    const text = textOf?.(object)
    return text === undefined ? {} : answering(text)
  }
  if (each === undefined)
    return (frame, session, request) => {
      const object = objectOf(content(frame, request), 'the message')
      const device = deviceOf(object, session)
      const message = enveloped({ device, ...answerTo(object) }, () => {
        const said = saidOf?.(object)
        const found = readFix?.(object, session)
        return found ? { fixes: [said ? { ...found, said } : found] } : { none: whyNot(object), said }
      })
      return message.fixes || message.none !== undefined ? message : { device, said: message.said }
    }
  const listOf = listReader(each)
  const ofAll = answerTo({})
  const entryOf = (entry: unknown, session: Session): Entry => {
    const object = objectOf(entry, 'an entry')
    const device = deviceOf(object, session)
    const { fixes, said } = enveloped({ device, ...ofAll }, () => {
      const found = readFix?.(object, session)
      return { fixes: found && [found], said: saidOf?.(object) }
    })
    return { device, fix: fixes?.[0], said }
  }
  return (frame, session, request) => {
    const { good, unreadable } = eachReadable(
      listOf(content(frame, request)),
      (entry) => entryOf(entry, session),
      (result, entry) => !result.fix && holdsPlace(entry, isPlaceOfOthers),
    )
    return { ...entriesMessage(good, whyNot({})), unreadable, ...ofAll }
  }
}

function jsonOf(frame: Buffer, request?: HttpRequest): unknown {
  return request ? jsonBody(request) : parseJson(frame.toString())
}

function deviceReader(path?: Path): (object: JsonObject, session: Session) => string | undefined {
  if (path === undefined) return () => undefined
  const find = finder(path, (value) => typeof value === 'number' || (typeof value === 'string' && value !== ''))
  return (object, session) => {
    const id = find(object)
    if (typeof id === 'string' || typeof id === 'number') return String(id)
    if (session.transport === 'http') throw new DecodeError('malformed', `${nameOf(path)} is missing`)
    return undefined
  }
}

function listReader(each: string): (json: unknown) => readonly unknown[] {
  if (each === '') return (json) => (Array.isArray(json) ? json : [json])
  const find = finder(each)
  return (json) => {
    const list = find(objectOf(json, 'the message'))
    if (!Array.isArray(list)) throw new DecodeError('malformed', `${each} is missing`)
    return list
  }
}

/** One entry of a message, with its device and its fix where it has one. */
interface Entry {
  readonly device?: string
  readonly fix?: Fix
  readonly said?: Said
}

/** The message of entries that may be of several devices: then each fix names its own. */
export function entriesMessage(entries: readonly Entry[], none?: string): Message {
  const device = entries[0]?.device
  const isOne = entries.every((entry) => entry.device === device)
  const fixes: Fix[] = []
  for (const { device: id, fix, said } of entries) {
    if (!fix) continue
    const own = said ? { ...fix, said } : fix
    fixes.push(isOne ? own : { ...own, device: id })
  }
  if (fixes.length > 0) return { device: isOne ? device : undefined, fixes }
  return isOne ? { device, none, said: entries.findLast(({ said }) => said)?.said } : { none }
}

/** Returns a function that reads a fix from a JSON object. `paths`: where in the object its values stand. */
export function jsonFix(paths: FixPaths): ReadFix {
  const { time, timeOrArrival, valid: isFix = () => true } = paths
  const [findLatitude, findLongitude] = [finder(paths.latitude), finder(paths.longitude)]
  const findTime = finder(time ?? timeOrArrival ?? [])
  const findValid = typeof isFix === 'string' ? finder(isFix) : isFix
  const altitude = measure(paths.altitude)
  const speed =
    measure(paths.speedMs, known) ??
    measure(
      paths.speedCms,
      speedIn((value) => value / 100),
    ) ??
    measure(paths.speedKmh, speedIn(kmh)) ??
    measure(paths.speedKnots, speedIn(knots))
  const course = measure(paths.course, heading)
  const accuracy = measure(paths.accuracy, known) ?? measure(paths.accuracyOr0, dop)
  const hdop = measure(paths.hdop, dop)
  const satellites = measure(paths.satellites, known)
  return (object, session) => {
    const north = coordinate(findLatitude(object), paths.latitude)
    const east = coordinate(findLongitude(object), paths.longitude)
    if (north === undefined || east === undefined) return undefined
    const at = jsonTime(findTime(object))
    if (at === undefined && time !== undefined) throw new DecodeError('malformed', `${nameOf(time)} is missing`)
    const isValid = findValid(object)
    const valid = isValid !== false && isValid !== 0
    return {
      time: at ?? session.now,
      latitude: north,
      longitude: east,
      valid,
      altitude: altitude?.(object),
      speed: speed?.(object),
      heading: course?.(object),
      accuracy: accuracy?.(object),
      hdop: hdop?.(object),
      satellites: satellites?.(object),
    }
  }
}

/** The same, of an object that has a place. @throws DecodeError `malformed` if it has none */
export function placedFix(paths: FixPaths): (object: JsonObject, session: Session) => Fix {
  const read = jsonFix(paths)
  return (object, session) => {
    const fix = read(object, session)
    if (!fix) throw new DecodeError('malformed', `${nameOf(paths.latitude)} or ${nameOf(paths.longitude)} is missing`)
    return fix
  }
}

/** Returns a function that reads what an object says beside its position. */
function saidReader(paths: SaidPaths): (object: JsonObject) => Said | undefined {
  const flags = findersOf(paths, ['ignition', 'moving', 'charging'])
  const numbers = findersOf(paths, ['external_voltage', 'battery_voltage', 'battery_percent'])
  const [driver] = findersOf(paths, ['driver'])
  return (object) => {
    const found: Said = { alarms: paths.alarms?.(object) }
    for (const [key, find] of flags) found[key] = flagOf(find(object))
    for (const [key, find] of numbers) found[key] = optionalNumber(find(object))
    const id = driver?.[1](object)
    if (typeof id === 'string' || typeof id === 'number') found.driver = String(id)
    return withoutUnknown(found)
  }
}

function findersOf<Key extends Exclude<keyof Said, 'alarms'>>(paths: SaidPaths, keys: readonly Key[]) {
  return keys.flatMap((key) => {
    const path = paths[key]
    return path === undefined ? [] : [[key, finder(path)] as const]
  })
}

/** A flag: true, 1, `true`, `on` and `yes` are true, any other value is false; undefined if there is none. */
export function flagOf(value: unknown): boolean | undefined {
  if (value === undefined || value === null || value === '') return undefined
  return [true, 1, 'true', '1', 'on', 'yes'].includes(
    typeof value === 'string' ? value.toLowerCase() : (value as number),
  )
}

/** Returns a function that reads a measurement of an object; undefined without a place. */
function measure(path: Path | undefined, read?: (value: number | undefined) => number | undefined) {
  if (path === undefined) return undefined
  const find = finder(path)
  return (object: JsonObject): number | undefined => {
    const value = optionalNumber(find(object))
    return read ? read(value) : value
  }
}

const speedIn = (unit: (value: number) => number) => (value: number | undefined) =>
  value !== undefined && value >= 0 ? unit(value) : undefined

/** A finite number, or the text of one; undefined if it is absent or 'null'. @throws DecodeError `malformed` */
function coordinate(value: unknown, path: Path): number | undefined {
  if (typeof value === 'number' && value - value === 0) return value
  if (value === undefined || value === 'null') return undefined
  if (typeof value === 'number' || typeof value === 'string') return number(String(value))
  throw new DecodeError('malformed', `${nameOf(path)} is a ${typeof value}, not a number`)
}

/**
 * ms UTC of unix seconds or ms, as a number or its text, or of RFC 3339; undefined if it is absent or 'null'.
 * @throws DecodeError `malformed`
 */
export function jsonTime(value: unknown): number | undefined {
  if (value === undefined || value === null || value === '' || value === 'null') return undefined
  if (typeof value === 'number') return unixTime(value)
  if (typeof value !== 'string') throw new DecodeError('malformed', 'a time is neither a number nor text')
  return DECIMAL.test(value) ? unixTime(number(value)) : rfc3339(value)
}

const DECIMAL = /^\s*[-+]?\d{1,20}(?:[.,]\d{1,20})?\s*$/

/** The first of some places, as an error names it: 'location.latitude'. */
const nameOf = (path: Path): string => [path].flat()[0].replaceAll('/', '.')

/** What finds the value in the first of some places that has one; undefined if none has. */
function finder(path: Path, isValue = isPresent): (object: JsonObject) => unknown {
  const [first, ...others] = [path].flat().map((each) => finderAt(each.split('/')))
  return (object) => {
    const value = first?.(object)
    if (isValue(value)) return value
    for (const find of others) {
      const other = find(object)
      if (isValue(other)) return other
    }
    return undefined
  }
}

/** Most places are one name: without a loop they take half of the time. */
function finderAt(names: readonly string[]): (object: JsonObject) => unknown {
  const [name] = names
  if (names.length === 1) return (object) => object[name]
  return (object) => {
    let value: unknown = object
    for (const each of names) value = typeof value === 'object' ? (value as JsonObject | null)?.[each] : undefined
    return value
  }
}

const isPresent = (value: unknown) => value !== undefined && value !== null && value !== ''
