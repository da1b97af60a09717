import {
  cut,
  DecodeError,
  type Message,
  noSettings,
  type Protocol,
  type Sealed,
  type Session,
} from '../../protocols/kit/index.ts'
import { sameId } from '../domain/ids.ts'
import { logFault } from '../observe/faults.ts'
import type { Logger } from '../observe/log.ts'
import { type DeviceEntry, isSecretOf } from '../roster/device-entry.ts'
import type { DeviceSecrets } from '../roster/device-secrets.ts'
import { contentOf, type MisunderstoodFrame } from '../store/misunderstood-frame.ts'
import type { Journal } from './journal.ts'
import type { Mappings } from './mappings.ts'
import { doubtOf, type Reading } from './outcome.ts'
import { decode, openBox, readByMapping, readOpened } from './reading.ts'

export interface KeptReaderOptions {
  /** Returns the protocol with this name; undefined if it no longer exists. */
  readonly protocolNamed: (name: string) => Promise<Protocol | undefined>
  /** The secrets of devices, for frames that are encrypted with them. */
  readonly secrets: Pick<DeviceSecrets, 'of'>
  /** Tried on JSON that its protocol cannot read. */
  readonly mappings: Pick<Mappings, 'read'>
  readonly journal: Pick<Journal, 'decoded'>
  readonly logger: Logger
}

/** What a kept frame says by the present protocols, mappings and secrets. */
interface KeptReading {
  /** Undefined: it cannot be read, or must not. */
  readonly message: Message | undefined
  /** Whether the secret of its device has opened it. */
  readonly isOpened: boolean
  /** Whether it is encrypted, and the files of this machine do not have the present secret of its device. */
  readonly lacksSecret: boolean
}

/** A kept frame, the present entry of its device, and the protocol that reads it. */
interface KeptSource {
  readonly frame: MisunderstoodFrame
  readonly entry: DeviceEntry
  readonly protocol: Protocol
}

/** Reads frames that are kept because they were not understood when they arrived. */
export class KeptReader {
  readonly #options: KeptReaderOptions

  constructor(options: KeptReaderOptions) {
    this.#options = options
  }

  /** Reads a frame again. @param entry the present one of its device */
  async read(frame: MisunderstoodFrame, entry: DeviceEntry): Promise<KeptReading> {
    const protocol = await this.#options.protocolNamed((frame.isGuess && entry.protocol) || frame.protocol)
    if (!protocol) return { message: undefined, isOpened: false, lacksSecret: false }
    const message = this.#messageOf(frame, entry, protocol)
    const opened = message?.sealed && (await this.#opened(message.sealed, { frame, entry, protocol }))
    const isOpened = opened !== undefined
    const lacksSecret = message?.sealed !== undefined && !isOpened && !(await this.#hasSecretOf(entry))
    return { message: opened ?? message, isOpened, lacksSecret }
  }

  /** Returns what a frame says, perhaps encrypted. */
  #messageOf(frame: MisunderstoodFrame, entry: DeviceEntry, protocol: Protocol): Message | undefined {
    if (frame.masked === 'short') return undefined
    const before = {
      ...bareSession(frame),
      settingsOf: () => entry.protocolSettings,
      lenient: frame.masked !== undefined && frame.reason !== 'checksum',
    }
    for (const text of frame.opening ?? [])
      this.#decode({ frame: Buffer.from(text, 'base64'), session: before, protocol })
    const session = { ...before, device: entry.id }
    const contents = framesOf(frame, { protocol, session }, this.#options.logger)
    const messages = contents.map((content) => this.#decode({ frame: content, session, protocol }))
    const [first, ...more] = messages
    const message = more.length === 0 ? first : joined(messages)
    if (message instanceof DecodeError) return undefined
    // A guess may have taken something else for the id.
    const isOther = message.device !== undefined && sameId(message.device) !== sameId(entry.id)
    return isOther && frame.isGuess ? undefined : message
  }

  #decode(reading: Reading): Message | DecodeError {
    const { journal, mappings } = this.#options
    const read = decode(reading)
    const found = readByMapping(read, reading, mappings)
    journal.decoded(found?.message ?? read, found?.protocol ?? reading.protocol)
    return found?.message ?? read
  }

  /** Resolves to the content of an encrypted frame, if a secret of the device opens it. */
  async #opened(sealed: Sealed, { frame, entry, protocol }: KeptSource): Promise<Message | undefined> {
    const { journal, secrets } = this.#options
    const opened = await openBox(sealed, await secrets.of(entry.id))
    if (!opened || !isSecretOf(entry, opened.secret)) return undefined
    const message = readOpened(sealed, opened.content, { frame: opened.content, session: bareSession(frame), protocol })
    journal.decoded(message, protocol)
    return message instanceof DecodeError ? undefined : message
  }

  /** Whether the files of this machine have the present secret of a device, if it has one. */
  async #hasSecretOf({ id, secretDigest }: DeviceEntry): Promise<boolean> {
    if (secretDigest === undefined) return true
    const secrets = await this.#options.secrets.of(id)
    return secrets.some((secret) => isSecretOf({ secretDigest }, secret))
  }
}

/** Returns a session for a kept frame, whose sender is gone. */
function bareSession({ at, transport }: MisunderstoodFrame): Session {
  return { transport, now: at, lenient: false, settingsOf: noSettings }
}

/** Returns a kept frame as frames of a protocol: if another protocol was guessed, that one has cut the stream at other places. */
function framesOf(kept: MisunderstoodFrame, { protocol, session }: Omit<Reading, 'frame'>, logger: Logger) {
  const { name, tcp, udp } = protocol
  const content = contentOf(kept)
  const framer = { tcp: tcp?.frame, udp: udp?.frame, http: undefined, mqtt: undefined }[kept.transport]
  if (name === kept.protocol || !framer || !Buffer.isBuffer(content)) return [content]
  try {
    const { frames } = cut(content, framer, session)
    return frames.length > 0 ? frames : [content]
  } catch (error) {
    logFault(logger, error, { what: 'fault in a framer', protocol: name })
    return [content]
  }
}

/** Combines what several frames say; a frame that cannot be read counts as an entry that cannot be read. */
function joined(messages: readonly (Message | DecodeError)[]): Message {
  const read = messages.filter((message): message is Message => !(message instanceof DecodeError))
  const fixes = read.flatMap((message) => message.fixes ?? [])
  const unreadable = messages.flatMap((message, index) =>
    message instanceof DecodeError || doubtOf(message) ? [index] : [],
  )
  const device = read.find((message) => message.device !== undefined)?.device
  if (unreadable.length > 0) return { device, fixes, unreadable }
  return fixes.length > 0 ? { device, fixes } : { device, none: read[0]?.none }
}
