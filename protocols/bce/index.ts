/*
 * BCE (Xirgo Global) FM3, FM-Light, FM-Tracker: "Simplified communication protocol of BCE generic devices"
 * (it.confluence.xirgo.com); the structures are inferred from frames. Little-endian.
 *
 *   #BCE# CR LF                              begins a connection
 *   IIIIIIIIIIIIIIII (LLLL SS KK structure…)… CC
 *
 *   I  IMEI      S  A5: from the memory, wants the answer I 0002 19 KK' CC, K' = K without its highest bit; A0: no answer
 *   L  length of S, K and the structures      K  key        C  sum of all bytes before it
 *
 *   structure   NN TTTTTTTT data             N  length of T and data
 *   T  low four bits: kind; the others: time, in two seconds since 2008, modulo 2^28 (17 years): the one nearest to now
 *
 *   kind 6   an event, no position
 *   kind 7   MMMM… values                    M  masks of 16 bits, the highest: another mask follows; bit 0 of the first: place
 *   place    OOOOOOOO AAAAAAAA V Q G HHHH…   O, A  longitude, latitude, float32, degrees     Q  HDOP, satellites, 4 bits each
 *                                            V  speed, km/h    G  heading, 2 degrees    H  altitude, m
 *   bit 6 of the third mask: the driver's card, 8 bytes, behind the values of the masks before it. Bytes of these: bit 0 of the
 *   first 17, bits 1 and 14 together 11, bits 2 to 9 two each; bits 0, 1, 3, 4, 6, 7 of the second together 11, all of it 43.
 */
import {
  ByteReader,
  ByteWriter,
  dialects,
  dop,
  enveloped,
  type Fix,
  heading,
  kmh,
  type Message,
  type Protocol,
  type Said,
  type Session,
  said,
  sum8,
  verified,
} from '../kit/index.ts'

const GREETING = '#BCE#\r\n'

const framing = dialects([{ when: GREETING, frame: () => -GREETING.length }, { frame: blocksLength }])

export default {
  name: 'bce',
  devices: 'BCE and Xirgo Global FM3, FM-Light, FM-Tracker, FM-Blue',
  acknowledges: 'some',
  integrity: { checksum: 'sum8', covers: [0, -1] },
  tcp: { port: 5080, frame: framing.frame },
  decode,
} satisfies Protocol

const FROM_MEMORY = 0xa5
const NOW = 0xa0
const OUTPUT = 0xc1
const CONFIRM = 0x19
const EVENT = 6
const VALUES = 7
const MORE_MASKS = 0x8000
const HAS_PLACE = 1
/** Bits of the first mask: of its values some have two bytes, some are always there, and of some no width is known. */
const [PAIRS, ALWAYS, UNKNOWN] = [0x03fc, 0x4002, 0x3c00]
const [PLACE_BYTES, ALWAYS_BYTES] = [17, 11]
/** Bytes of the values of a second mask. */
const SECOND = new Map([
  [0, 0],
  [0x00db, 11],
  [0x7fff, 43],
])
/** In the third mask: the bit of the driver, and the bits up to it. */
const [DRIVER, UP_TO_DRIVER] = [0x40, 0x7f]
const EPOCH = Date.UTC(2008, 0, 1)
/** After so many ms the time begins anew. */
const ERA = 2 ** 28 * 2000

const SERVICES = new Set([FROM_MEMORY, NOW, OUTPUT])

/** Another block follows the first one where the checksum does not fit yet, and what follows begins like a block. */
function blocksLength(bytes: Buffer): number {
  let end = 8
  let sum = sum8(bytes.subarray(0, end))
  do {
    if (bytes.length < end + 3) return 0
    const from = end
    end += 2 + bytes.readUInt16LE(end)
    if (bytes.length <= end) return 0
    sum = (sum + sum8(bytes.subarray(from, end))) & 0xff
    if (sum === bytes[end] && !goesOn(bytes, end)) return end + 1
    if (bytes.length < end + 3) return 0
  } while (SERVICES.has(bytes[end + 2]))
  return end + 1
}

/** Whether a block begins at an index where the checksum may stand: its length may be the same byte. The next frame begins like this one. */
function goesOn(bytes: Buffer, at: number): boolean {
  const behind = bytes.subarray(at + 1, at + 9)
  return SERVICES.has(bytes[at + 2]) && !behind.equals(bytes.subarray(0, behind.length))
}

function decode(frame: Buffer, session: Session): Message {
  const r = new ByteReader(verified(frame, { sum: sum8, from: 0, width: 1 }, session))
  const device = r.digits64le()
  const blocks: Block[] = []
  while (r.left > 0) {
    const structures = new ByteReader(r.slice(r.u16le()))
    blocks.push({ service: structures.u8(), key: structures.u8(), structures })
  }
  const reply = blocks.filter(({ service }) => service === FROM_MEMORY).map(({ key }) => confirmation(device, key))
  return enveloped({ device, reply }, () => contentOf(blocks, session.now))
}

interface Block {
  readonly service: number
  readonly key: number
  readonly structures: ByteReader
}

function contentOf(blocks: readonly Block[], now: number): Message {
  const fixes: Fix[] = []
  let none: string | undefined = 'no place'
  let unplaced: Said | undefined
  for (const { service, structures } of blocks)
    if (service === OUTPUT) none &&= 'command answer'
    else if (service !== FROM_MEMORY && service !== NOW) none = undefined
    else {
      const content = structuresIn(structures, now)
      fixes.push(...content.fixes)
      unplaced = content.unplaced
      if (!content.isKnown) none = undefined
    }
  return fixes.length > 0 ? { fixes, said: unplaced } : { none, said: unplaced }
}

function confirmation(device: string, key: number): Buffer {
  const w = new ByteWriter().u64le(Number(device)).u16le(2).u8(CONFIRM)
  return w
    .u8(key & 0x7f)
    .sum8()
    .toBuffer()
}

interface Content {
  readonly fixes: readonly Fix[]
  /** Whether all structures are. */
  readonly isKnown: boolean
  /** What the last structure with values says, if it has no place. */
  readonly unplaced?: Said
}

function structuresIn(r: ByteReader, now: number): Content {
  const fixes: Fix[] = []
  let isKnown = true
  let unplaced: Said | undefined
  while (r.left > 0) {
    const data = new ByteReader(r.slice(r.u8()))
    const head = data.u32le()
    const kind = head & 0x0f
    isKnown &&= kind === VALUES || kind === EVENT
    if (kind !== VALUES) continue
    const masks = masksIn(data)
    const card = driverOf(data, masks)
    unplaced = card
    if ((masks[0] & HAS_PLACE) === 0) continue
    const fix = fixOf(data, timeNear((head >>> 4) * 2000 + EPOCH, now))
    fixes.push(card ? { ...fix, said: card } : fix)
    unplaced = undefined
  }
  return { fixes, isKnown, unplaced }
}

/** The masks that values begin with, without the bit that says that another follows. */
function masksIn(r: ByteReader): readonly number[] {
  const masks: number[] = []
  for (let mask = MORE_MASKS; (mask & MORE_MASKS) !== 0; ) {
    mask = r.u16le()
    masks.push(mask & ~MORE_MASKS)
  }
  return masks
}

function driverOf(values: ByteReader, [first, second, third = 0]: readonly number[]): Said | undefined {
  const behind = SECOND.get(second)
  if ((third & UP_TO_DRIVER) !== DRIVER || behind === undefined) return undefined
  if ((first & ALWAYS) !== ALWAYS || (first & UNKNOWN) !== 0) return undefined
  const at = (first & HAS_PLACE ? PLACE_BYTES : 0) + ALWAYS_BYTES + 2 * ones(first & PAIRS) + behind
  return values.left < at + CARD_BYTES ? undefined : said({ driver: values.ahead(at).digits64le() })
}

const CARD_BYTES = 8

function ones(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}

function timeNear(time: number, now: number): number {
  return time + Math.round((now - time) / ERA) * ERA
}

function fixOf(r: ByteReader, time: number): Fix {
  const longitude = r.f32le()
  const latitude = r.f32le()
  const speed = kmh(r.u8())
  const quality = r.u8()
  const course = heading(r.u8() * 2)
  return {
    time,
    latitude,
    longitude,
    valid: true,
    speed,
    heading: course,
    altitude: r.i16le(),
    hdop: dop(quality >> 4),
    satellites: quality & 0x0f,
  }
}
