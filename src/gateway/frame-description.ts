import type { HttpRequest } from '../../protocols/kit/index.ts'
import { sameId } from '../domain/ids.ts'
import { masked, maskedBehindNames, wordsOf } from '../masking.ts'
import { isSecretOf, type SecretDigests } from '../roster/device-entry.ts'
import type { MisunderstoodFrame } from '../store/misunderstood-frame.ts'

/** Facts about a frame, before secrets are masked. */
export interface FrameDescription extends Omit<MisunderstoodFrame, 'frame' | 'request' | 'opening' | 'masked'> {
  readonly content: Buffer | HttpRequest
  /** Bytes as latin1. */
  readonly opening?: readonly string[]
  /** The secrets that the device presented. */
  readonly secrets: readonly (string | undefined)[]
  /** The entry with the id of the device, if there is one. */
  readonly entry: SecretDigests | undefined
}

/** The frame with asterisks in place of secrets. */
export function describeFrame(description: FrameDescription): MisunderstoodFrame {
  const { content, entry, opening, secrets, error, ...about } = description
  const masking = new Masking(secrets, entry, about.device)
  const mask = (text: string) => masking.mask(text)
  const base64 = (latin1: string) => Buffer.from(mask(latin1), 'latin1').toString('base64')
  const described = {
    ...about,
    error: error && mask(error),
    ...(Buffer.isBuffer(content)
      ? { frame: base64(content.toString('latin1')) }
      : { request: describeRequest(content, mask) }),
    opening: opening?.map(base64),
  }
  return { ...described, masked: masking.found }
}

/**
 * Replaces secrets by asterisks in everything that is shown of a device's messages: secrets that were presented, those of the
 * device, by their digests, and values that are named like one. The id of the device always stays, because a decoder needs
 * it.
 */
export class Masking {
  /** What was masked: `secret`; or `short`, a secret so short that its characters may have meant something else. */
  found: MisunderstoodFrame['masked']
  readonly #secrets: ReadonlySet<string>
  readonly #entry: SecretDigests | undefined
  readonly #device: string | undefined

  constructor(secrets: Iterable<string | undefined>, entry?: SecretDigests, device?: string) {
    this.#secrets = new Set([...secrets].filter((secret) => secret !== undefined))
    this.#entry = entry
    this.#device = device && sameId(device)
  }

  mask(text: string): string {
    const { secretDigest, previousSecretDigest } = this.#entry ?? {}
    const hasSecret = (secretDigest ?? previousSecretDigest) !== undefined
    const own = hasSecret ? [...wordsOf(text)].filter((word) => isSecretOf(this.#entry ?? {}, word)) : []
    const hidden = [...this.#secrets, ...own].reduce(
      (before, secret) => masked(before, secret, (place) => this.#hide(place, secret.length < SURE_SECRET)),
      text,
    )
    return maskedBehindNames(hidden, (place, isNumber) => this.#hide(place, false, isNumber))
  }

  #hide(place: string, isShort: boolean, isNumber = false): string {
    if (this.#device !== undefined && sameId(place) === this.#device) return place
    this.found = isShort || this.found === 'short' ? 'short' : 'secret'
    return isNumber ? place.replace(/[\d*]/g, '1') : '*'.repeat(place.length)
  }
}

/** A request without the headers that hold secrets. */
function describeRequest({ method, uri, headers, body }: HttpRequest, mask: (text: string) => string) {
  const shown = Object.entries(headers).filter(([name]) => !SECRET_HEADERS.has(name))
  return {
    method,
    uri: mask(uri),
    headers: Object.fromEntries(shown.map(([name, value]) => [name, value && maskHeader(name, value, mask)])),
    body: Buffer.from(mask(body.toString('latin1')), 'latin1').toString('base64'),
  }
}

/** Masks the value of a header if its name marks it as a secret. */
function maskHeader(name: string, value: string, mask: (text: string) => string): string {
  return mask(`${name}: ${value}`).slice(name.length + 2)
}

const SECRET_HEADERS = new Set(['authorization', 'proxy-authorization', 'cookie'])
/** Characters from which on a secret is in no frame by chance. */
const SURE_SECRET = 4
