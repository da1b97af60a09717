import { loadProtocol, protocolPorts } from '../../protocols/index.ts'
import { crc16Arc, cut, decodeFrame, type HttpRequest, type Protocol, type Session } from '../../protocols/kit/index.ts'
import { ownFrames } from '../support/known-frames.ts'
import { casesOf } from '../support/protocol-cases.ts'
import { type AvlRecord, avlLogin, avlPacket, bytes, gt06Frame, gt06Gps } from '../support/encode.ts'

/** What one core decodes of a protocol, framing and checksums included. */
export interface DecodeRate {
  readonly frames_per_s: number
  readonly fixes_per_s: number
}

/**
 * Decodes generated frames of each protocol of the table below, 1.7 s each, and of all others what their own frames with fixes
 * are, 0.3 s each. `names`: only these, 1.7 s each.
 */
export async function benchDecode(names?: readonly string[]): Promise<Record<string, DecodeRate>> {
  const rates: Record<string, DecodeRate> = {}
  const others = protocolPorts.map(({ name }) => name).filter((name) => !(name in LOADS))
  for (const name of names ?? [...Object.keys(LOADS), ...others]) {
    const protocol = await protocolNamed(name)
    const rounds = name in LOADS ? [roundOf(protocol, LOADS[name]())] : await ownRounds(protocol)
    rates[name] = rateOf(rounds, names || name in LOADS ? LONG : SHORT)
  }
  return rates
}

/** What a protocol is measured with: a login and frames of one connection, or payloads, or requests. */
interface Load {
  readonly login?: Buffer
  readonly frames?: readonly Buffer[]
  readonly requests?: readonly HttpRequest[]
}

const LONG = { warmUpMs: 200, measuredMs: 1500 }
const SHORT = { warmUpMs: 100, measuredMs: 200 }
const FRAMES = 200
const ID = '356307042441013'
const FIRST = Date.UTC(2026, 10, 20, 6)

const LOADS: Readonly<Record<string, () => Load>> = {
  fix: () => ({ frames: times((i) => Buffer.from(JSON.stringify(tens(i).map(jsonFix)))) }),
  gt06: () => ({ login: gt06Frame(0x01, bytes(`0${ID}`)), frames: times(gt06Location) }),
  h02: () => ({ frames: times((i) => Buffer.from(`*HQ,${ID},V1,${h02Fields(i)}#`)) }),
  osmand: () => ({ requests: times((i) => ({ ...REQUEST, uri: `/?id=${ID}&${osmandQuery(i)}` })) }),
  owntracks: () => ({ requests: times((i) => ({ ...REQUEST, method: 'POST', body: ownTracksBody(i) })) }),
  teltonika: () => ({ login: avlLogin(ID), frames: times((i) => avlPacket(0x08, tens(i).map(avlRecord))) }),
  wialon: () => ({ login: wialonLine(`#L#2.0;${ID};NA;`), frames: times((i) => wialonLine(`#D#${wialonFields(i)};`)) }),
}

async function protocolNamed(name: string): Promise<Protocol> {
  const protocol = await loadProtocol(name)
  if (!protocol) throw new Error(`no protocol ${name}`)
  return protocol
}

/** Work that takes frames of one connection and answers how many frames and fixes they were. */
type Round = () => { readonly frames: number; readonly fixes: number }

function rateOf(rounds: readonly Round[], { warmUpMs, measuredMs }: typeof LONG): DecodeRate {
  repeat(rounds, warmUpMs)
  const { frames, fixes, seconds } = repeat(rounds, measuredMs)
  return { frames_per_s: Math.round(frames / seconds), fixes_per_s: Math.round(fixes / seconds) }
}

/** Takes every frame of a load once. */
function roundOf(protocol: Protocol, { login, frames = [], requests }: Load): Round {
  const session: Session = { settings: {}, transport: requests ? 'http' : 'tcp', now: FIRST, lenient: false }
  if (login) decodeFrame(protocol, login, session)
  return heard(protocol, requests ?? frames, session)
}

/** Takes each of a protocol's own frames that has a fix, 50 times. */
async function ownRounds(protocol: Protocol): Promise<Round[]> {
  const { frames: conversations } = await casesOf(protocol.name)
  return conversations.flatMap((conversation) => {
    const known = ownFrames(protocol, conversation)
    return conversation.frames.flatMap(({ fixes = [] }, i) =>
      fixes.length === 0
        ? []
        : [
            heard(
              protocol,
              Array.from({ length: 50 }, () => known[i].frame),
              known[i].session(),
            ),
          ],
    )
  })
}

/** Frames of a stream are cut first. */
function heard(protocol: Protocol, all: readonly (Buffer | HttpRequest)[], session: Session): Round {
  const { tcp } = protocol
  const decoded = (sum: number, frame: Buffer | HttpRequest) =>
    sum + (decodeFrame(protocol, frame, session).fixes?.length ?? 0)
  const frames = all.length
  if (!tcp || session.transport !== 'tcp') return () => ({ frames, fixes: all.reduce(decoded, 0) })
  const stream = Buffer.concat(all as Buffer[])
  return () => ({ frames, fixes: cut(stream, tcp.frame, session).frames.reduce(decoded, 0) })
}

function repeat(rounds: readonly Round[], ms: number): { frames: number; fixes: number; seconds: number } {
  const begun = performance.now()
  const sum = { frames: 0, fixes: 0 }
  for (let i = 0; performance.now() < begun + ms; i++) {
    const { frames, fixes } = rounds[i % rounds.length]()
    sum.frames += frames
    sum.fixes += fixes
  }
  return { ...sum, seconds: (performance.now() - begun) / 1000 }
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

if (import.meta.main) console.log(JSON.stringify(await benchDecode(), undefined, 2))
