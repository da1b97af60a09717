import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { loadProtocol } from '../../protocols/index.ts'
import {
  crc16Arc,
  cut,
  decodeFrame,
  type HttpRequest,
  mappingProtocol,
  noSettings,
  type Protocol,
  type Session,
} from '../../protocols/kit/index.ts'
import { readMapping } from '../../src/config/mappings.ts'
import { type AvlRecord, avlLogin, avlPacket, bytes, gt06Frame, gt06Gps } from '../support/encode.ts'
import { ownFrames } from '../support/known-frames.ts'
import { type Conversation, casesOf } from '../support/protocol-cases.ts'

/** What one core decodes of a protocol in a second of CPU time, framing and checksums included. */
export interface DecodeRate {
  readonly frames_per_s: number
  readonly fixes_per_s: number
}

/**
 * Decodes frames of each of the most used protocols for half a second of CPU time, in a process of its own, as a fleet speaks
 * mostly one: generated frames of the table below, else the typical frame of its own cases, again and again. `names`: of these
 * protocols instead.
 */
export async function benchDecode(names: readonly string[] = MOST_USED): Promise<Record<string, DecodeRate>> {
  const rates: Record<string, DecodeRate> = {}
  for (const name of names) {
    const { stdout } = await promisify(execFile)(process.execPath, [import.meta.filename, name])
    rates[name] = JSON.parse(stdout)
  }
  return rates
}

/** In place of the name of a protocol: a mapping of mappings.yaml. */
const MAPPED = 'mapping'

const MOST_USED = [
  'gt06 h02 teltonika wialon jt808 gl200 gps103 tk103 suntech meitrack watch castel t55 egts megastek jt600',
  'meiligao totem xexun atrack eelink taip laipac trv upro t800x ulbotech navis galileo ruptela calamp cellocator',
  'gosafe starlink startek fifotrack bce arnavi adm dmt xirgo minifinder minifinder2 huasheng topin its easytrack',
  'globalsat khd wondex pt502 tzone autofon gl100 freematics flespi aplicom telic tlt2h box fix osmand owntracks',
  MAPPED,
].flatMap((names) => names.split(' '))

/** What a protocol is measured with: a login and frames of one connection, or payloads, or requests. */
interface Load {
  readonly login?: Buffer
  readonly frames?: readonly Buffer[]
  readonly requests?: readonly HttpRequest[]
}

const WARM_UP_MS = 200
const PARTS = 10
const PART_MS = 30
const FRAMES = 200
/** Between two looks at the CPU time, which take longer than many frames. */
const ROUNDS = 10
const ID = '356307042441013'
const FIRST = Date.UTC(2026, 10, 20, 6)

const LOADS: Readonly<Record<string, () => Load>> = {
  fix: () => ({ frames: times((i) => Buffer.from(JSON.stringify(tens(i).map(jsonFix)))) }),
  gt06: () => ({ login: gt06Frame(0x01, bytes(`0${ID}`)), frames: times(gt06Location) }),
  h02: () => ({ frames: times((i) => Buffer.from(`*HQ,${ID},V1,${h02Fields(i)}#`)) }),
  osmand: () => ({ requests: times((i) => ({ ...REQUEST, uri: `/?id=${ID}&${osmandQuery(i)}` })) }),
  owntracks: () => ({ requests: times((i) => ({ ...REQUEST, method: 'POST', body: ownTracksBody(i) })) }),
  // Not requests: what was parsed of one is kept for other decoders.
  [MAPPED]: () => ({ frames: times(mappedMessage) }),
  teltonika: () => ({ login: avlLogin(ID), frames: times((i) => avlPacket(0x08, tens(i).map(avlRecord))) }),
  wialon: () => ({ login: wialonLine(`#L#2.0;${ID};NA;`), frames: times((i) => wialonLine(`#D#${wialonFields(i)};`)) }),
}

async function measured(name: string): Promise<DecodeRate> {
  const protocol = name === MAPPED ? mapped() : await loadProtocol(name)
  if (!protocol) throw new Error(`no protocol ${name}`)
  return rateOf(name in LOADS ? roundOf(protocol, LOADS[name]()) : await typicalRound(protocol))
}

/** Work that takes frames of one connection and answers how many frames and fixes they were. */
type Round = () => { readonly frames: number; readonly fixes: number }

/** The best of ten short parts: what else runs on the machine slows some of them down. */
function rateOf(round: Round): DecodeRate {
  repeat(round, WARM_UP_MS)
  const parts = Array.from({ length: PARTS }, () => repeat(round, PART_MS))
  return parts.reduce((best, part) => (part.fixes_per_s > best.fixes_per_s ? part : best))
}

/** Takes every frame of a load once. */
function roundOf(protocol: Protocol, { login, frames = [], requests }: Load): Round {
  const session: Session = { settingsOf: noSettings, transport: requests ? 'http' : 'tcp', now: FIRST, lenient: false }
  if (login) decodeFrame(protocol, login, session)
  return heard(protocol, requests ?? frames, session)
}

/** Takes the typical frame of a protocol's own cases 200 times, on a connection that has heard what stands before it. */
async function typicalRound(protocol: Protocol): Promise<Round> {
  const { conversation, index } = typicalFrame((await casesOf(protocol.name)).frames)
  const { frame, session } = ownFrames(protocol, conversation)[index]
  return heard(
    protocol,
    times(() => frame),
    session(),
  )
}

/** The frame that the cases call typical; else the first that has fixes. */
function typicalFrame(conversations: readonly Conversation[]): { conversation: Conversation; index: number } {
  const withFixes = conversations.flatMap((conversation) =>
    conversation.frames.flatMap(({ fixes = [], isTypical = false }, index) =>
      fixes.length > 0 ? [{ conversation, index, isTypical }] : [],
    ),
  )
  return withFixes.find(({ isTypical }) => isTypical) ?? withFixes[0]
}

/** Frames of a stream arrive one by one, and are cut first. */
function heard(protocol: Protocol, all: readonly (Buffer | HttpRequest)[], session: Session): Round {
  const framer = session.transport === 'tcp' ? protocol.tcp?.frame : undefined
  const framesOf = (each: Buffer | HttpRequest) =>
    framer && Buffer.isBuffer(each) ? cut(each, framer, session).frames : [each]
  const decoded = (sum: number, frame: Buffer | HttpRequest) =>
    sum + (decodeFrame(protocol, frame, session).fixes?.length ?? 0)
  return () => ({ frames: all.length, fixes: all.reduce((sum, each) => framesOf(each).reduce(decoded, sum), 0) })
}

/** For some time of this process' CPU, which other processes change less than what the clock says. */
function repeat(round: Round, ms: number): DecodeRate {
  const begun = process.cpuUsage()
  let [frames, fixes] = [0, 0]
  for (;;) {
    for (let i = 0; i < ROUNDS; i++) {
      const taken = round()
      frames += taken.frames
      fixes += taken.fixes
    }
    const { user, system } = process.cpuUsage(begun)
    const seconds = (user + system) / 1e6
    if (seconds * 1000 < ms) continue
    return { frames_per_s: Math.round(frames / seconds), fixes_per_s: Math.round(fixes / seconds) }
  }
}

function times<Value>(make: (i: number) => Value): Value[] {
  return Array.from({ length: FRAMES }, (_, i) => make(i))
}

/** The numbers of ten fixes of one frame. */
function tens(i: number): number[] {
  return Array.from({ length: 10 }, (_, n) => i * 10 + n)
}

const REQUEST: HttpRequest = { method: 'GET', uri: '/', headers: { host: 'localhost' }, body: Buffer.alloc(0) }

const unix = (i: number) => FIRST / 1000 + i
const latitude = (i: number) => 54.6872 + i * 1e-5
const longitude = (i: number) => 25.2797 + i * 1e-5

/** As a FMB920 sends it in drive: ten IO elements, the HDOP among them. */
function avlRecord(i: number): AvlRecord {
  const place = { latitude: latitude(i), longitude: longitude(i), altitude: 112, angle: i % 360 }
  const ones = [0xef, 0xf0, 0x50, 0x15, 0xc8].map((id) => [id, 1] as const)
  const twos = [0xb5, 0xb6, 0x42, 0x18].map((id) => [id, 8] as const)
  return { time: FIRST + i * 1000, ...place, satellites: 12, speed: 50, io: { 1: ones, 2: twos, 4: [[0xf1, 24601]] } }
}

function gt06Location(i: number): Buffer {
  const [minute, second] = [Math.trunc(i / 60), i % 60].map((part) => String(part).padStart(2, '0'))
  const position = { latitude: latitude(i), longitude: longitude(i), satellites: 12, speed: 50, heading: i }
  const gps = gt06Gps({ date: `26112006${minute}${second}`, ...position })
  return gt06Frame(0x22, Buffer.concat([gps, bytes('00f6 02 012c 003c4d 01 00 00 00001234')]), { serial: i })
}

function jsonFix(i: number) {
  return { lat: latitude(i), lon: longitude(i), timestamp: unix(i), accuracy: 8, speed: 13.9, heading: i % 360 }
}

function osmandQuery(i: number): string {
  return `lat=${latitude(i)}&lon=${longitude(i)}&timestamp=${unix(i)}&speed=27&bearing=${i}&altitude=112&accuracy=8`
}

function ownTracksBody(i: number): Buffer {
  const fix = {
    lat: latitude(i),
    lon: longitude(i),
    tst: unix(i),
    acc: 8,
    alt: 112,
    vel: 50,
    cog: i,
    tid: 'v1',
    topic: `owntracks/u/${ID}`,
  }
  return Buffer.from(JSON.stringify({ _type: 'location', ...fix }))
}

/** JSON of nobody, as a mapping reads it: every key that a mapping may have. */
function mappedMessage(i: number): Buffer {
  const gps = { lat: latitude(i), lon: longitude(i), acc: 8, alt: 112, dir: i % 360, kmh: 50, sats: 12, fix: true }
  return Buffer.from(
    JSON.stringify({ device: { imei: ID, model: 'x' }, points: [{ ts: unix(i), gps, acc: 1, batt: 4.1 }] }),
  )
}

function mapped(): Protocol {
  const read = readMapping('bench', {
    device: '$.device.imei',
    each: '$.points[*]',
    time: 'ts',
    time_format: 's',
    lat: 'gps.lat',
    lon: 'gps.lon',
    valid: 'gps.fix',
    accuracy: 'gps.acc',
    altitude: 'gps.alt',
    heading: 'gps.dir',
    satellites: 'gps.sats',
    speed: { path: 'gps.kmh', unit: 'kmh' },
    said: { ignition: 'acc', battery_voltage: 'batt' },
  })
  if (!('mapping' in read)) throw new Error('the mapping of the benchmark has mistakes')
  return mappingProtocol('bench', read.mapping)
}

function h02Fields(i: number): string {
  return `${clock(i)},A,${nmea(latitude(i), 2)},N,${nmea(longitude(i), 3)},E,027.00,${i},201126,FFFFFBFF,246,2,300,4021`
}

function wialonFields(i: number): string {
  return `201126;${clock(i)};${nmea(latitude(i), 2)};N;${nmea(longitude(i), 3)};E;50;${i};112;12;0.8;0;0;;NA;battery:1:87`
}

/** A line of IPS 2.0: the checksum covers what is behind the second #. */
function wialonLine(text: string): Buffer {
  const covered = Buffer.from(text.slice(text.indexOf('#', 1) + 1))
  return Buffer.from(`${text}${crc16Arc(covered).toString(16).toUpperCase().padStart(4, '0')}\r\n`)
}

function clock(i: number): string {
  return new Date(FIRST + i * 1000).toISOString().slice(11, 19).replaceAll(':', '')
}

function nmea(degrees: number, digits: number): string {
  const minutes = ((degrees % 1) * 60).toFixed(4).padStart(7, '0')
  return `${String(Math.trunc(degrees)).padStart(digits, '0')}${minutes}`
}

if (import.meta.main) console.log(JSON.stringify(await measured(process.argv[2])))
