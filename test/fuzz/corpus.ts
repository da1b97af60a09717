import {
  type Escaping,
  type HttpRequest,
  type Protocol,
  type Session,
  unescape,
  withEscapes,
} from '../../protocols/kit/index.ts'
import { type KnownFrame, knownFrames } from '../support/known-frames.ts'
import { casesOf } from '../support/protocol-cases.ts'
import { damageable, reasonOf } from '../support/rough.ts'
import { type ChecksumPlace, checksumPlace, type LengthPlace, lengthPlaces } from './places.ts'

/** A known frame in the form in which it is damaged. */
export interface Seedling {
  /** A frame without its escapes, the body of a request, or its path. */
  readonly bytes: Buffer
  /** The frame or request of damaged bytes. */
  rebuilt(bytes: Buffer): Buffer | HttpRequest
  /** A new session that has heard what came before. */
  session(): Session
  /** Where the frame may say how long it is. */
  readonly lengths: readonly LengthPlace[]
}

/** A protocol with what it is damaged by. */
export interface Target {
  readonly protocol: Protocol
  readonly seedlings: readonly Seedling[]
  /** Where its checksum stands; undefined if it has none, or it was not found. */
  readonly checksum: ChecksumPlace | undefined
}

/** A protocol with its own frames, and those of the vectors where they are. */
export async function targetOf(protocol: Protocol): Promise<Target> {
  const known = knownFrames(protocol, await casesOf(protocol.name)).filter(({ frame }) => sizeOf(frame) > 0)
  return {
    protocol,
    seedlings: known.map((each) => seedlingOf(each, protocol)),
    checksum: checksumPlace(protocol, known),
  }
}

function seedlingOf({ frame, session }: KnownFrame, { escaping }: Protocol): Seedling {
  const plain = escaping && Buffer.isBuffer(frame) ? unescaped(frame, escaping) : undefined
  const { bytes, rebuilt } = damageable(plain ?? frame)
  const asOnWire = plain && escaping ? (damaged: Buffer) => withEscapes(damaged, escaping) : rebuilt
  return { bytes, rebuilt: asOnWire, session, lengths: lengthPlaces(bytes) }
}

/** undefined of a frame of our own whose escapes are wrong. */
function unescaped(frame: Buffer, { escape, codes, optional = new Map() }: Escaping): Buffer | undefined {
  let plain: Buffer | undefined
  reasonOf(() => (plain = unescape(frame, escape, new Map([...codes, ...optional]))))
  return plain
}

function sizeOf(frame: Buffer | HttpRequest): number {
  return damageable(frame).bytes.length
}
