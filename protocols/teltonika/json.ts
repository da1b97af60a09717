/*
 * Codec JSON: "Codec JSON" (wiki.teltonika-gps.com/view/Codec_JSON), fields and units as in devices' messages. A record is one
 * document of an AWS shadow, published to <imei>/data:
 *
 *   { "state": { "reported": { "ts", "latlng": "<latitude>,<longitude>", "alt", "ang", "sat", "sp", "evt", "pr", "<IO element>" … } } }
 *
 *   ts  ms UTC      alt  metres      ang  degrees      sat  satellites; 0: no fix      sp  km/h
 *
 * The document does not name the device. The wiki has it for MQTT alone; who forwards it over HTTP names the IMEI in the path,
 * as in the topic, as the parameter `imei` or `id`, or as `imei` beside `state`.
 */
import {
  DecodeError,
  dop,
  type Fix,
  type HttpRequest,
  heading,
  type JsonObject,
  jsonBody,
  kmh,
  known,
  type Message,
  number,
  numericMember,
  objectMember,
  objectOf,
  optionalNumber,
  parametersOf,
  type Said,
  type Session,
  type Settings,
  textMember,
  unixTime,
} from '../kit/index.ts'
import { isDriver, withDriver, withElement } from './elements.ts'

const HDOP = '182'
const GNSS_SPEED = '24'

interface Sender {
  readonly named?: string
  readonly secret?: string
}

/** Reads a parsed document. `named`, `secret`: the device and its secret, as the topic or the request gives them. @throws DecodeError */
export function readDocument(parsed: unknown, session: Session, { named, secret }: Sender = {}): Message {
  const document = objectOf(parsed, 'the document')
  const device = textMember(document, 'imei') ?? named
  const { reported } = objectMember(document, 'state')
  if (reported === undefined) return { device }
  const record = objectOf(reported, 'reported')
  if (textMember(record, 'latlng') === undefined) return { device, none: 'no place', said: saidOf(record) }
  return { device, fixes: [fixOf(record, session, readsGnssSpeed(session.settingsOf(device, secret)))] }
}

/** The same of a request, which names the device. @throws DecodeError */
export function readRequest(request: HttpRequest, session: Session): Message {
  const parameters = parametersOf({ uri: request.uri, body: EMPTY })
  const [, inPath] = IN_PATH.exec(request.uri) ?? []
  const named = parameters.get('imei') ?? parameters.get('id') ?? inPath
  const secret = parameters.get('token') || undefined
  const message = readDocument(jsonBody(request), session, { named, secret })
  if (!message.device) throw new DecodeError('malformed', 'the IMEI is missing')
  return { ...message, secret }
}

/** Whether the speed of a model is IO element 24, whatever the source of the record's own speed is. */
export function readsGnssSpeed({ model = '' }: Settings): boolean {
  return HAS_GNSS_SPEED.test(model)
}

const HAS_GNSS_SPEED = /^FM[BCMPTU]/i

const EMPTY = Buffer.alloc(0)
const IN_PATH = /^\/(\d{14,16})(?:\/data)?\/?(?:\?|$)/

function fixOf(record: JsonObject, session: Session, hasGnssSpeed: boolean): Fix {
  const [latitude = '', longitude = ''] = textMember(record, 'latlng')?.split(',') ?? []
  const time = numericMember(record, 'ts')
  const satellites = known(optionalNumber(record.sat))
  const hdop = optionalNumber(record[HDOP])
  const speed = known((hasGnssSpeed ? optionalNumber(record[GNSS_SPEED]) : undefined) ?? optionalNumber(record.sp))
  return {
    time: time === undefined ? session.now : unixTime(time),
    latitude: number(latitude.trim()),
    longitude: number(longitude.trim()),
    valid: satellites !== 0,
    altitude: optionalNumber(record.alt),
    speed: speed === undefined ? undefined : kmh(speed),
    heading: heading(optionalNumber(record.ang)),
    satellites,
    hdop: hdop === undefined ? undefined : dop(hdop / 10),
    said: saidOf(record),
  }
}

/** What the IO elements say beside the position. */
function saidOf(record: JsonObject): Said | undefined {
  let said: Said | undefined
  for (const [name, value] of Object.entries(record)) {
    if (isDriver(+name)) said = withDriver(textMember(record, name) ?? '', said)
    else if (typeof value === 'number') said = withElement(+name, value, said)
  }
  return said
}
