import type { SecureContextOptions } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { UserError } from '../errors.ts'
import { observations } from '../observe/observations.ts'
import { type Certificate, type CertificateFiles, readCertificate } from './certificate.ts'
import { type Following, fingerprintOf, follow } from './text-file.ts'

/**
 * The certificate of a port that is open. Files that change take effect at once; where they cannot be used, the earlier
 * certificate stays. That, and a certificate that ends soon, is observed for as long as it lasts.
 */
export class ServedCertificate {
  readonly #files: CertificateFiles
  readonly #listener: string
  readonly #noting: NodeJS.Timeout
  #certificate: Certificate
  #refused: string | undefined
  #following: Following | undefined

  /** @param listener the name of the port, as in ports.json @throws UserError where the files cannot be used */
  constructor(files: CertificateFiles, listener: string) {
    const read = readCertificate(files)
    if ('message' in read) throw new UserError(`Cannot open ${listener} with TLS: tls.${read.key}: ${read.message}.`)
    this.#files = files
    this.#listener = listener
    this.#certificate = read
    this.#noting = setInterval(() => this.#note(), NOTE_MS).unref()
    this.#note()
  }

  get context(): SecureContextOptions {
    return this.#certificate.context
  }

  /** Calls `use` with each new certificate. */
  follow(use: (context: SecureContextOptions) => void): void {
    const { cert, key, client_ca } = this.#files
    const files = [cert, key, client_ca].filter((file) => file != null)
    const print = async () => (await Promise.all(files.map((file) => fingerprintOf(file)))).join('\n')
    this.#following = follow(print, async () => this.#reload(use))
  }

  async close(): Promise<void> {
    clearInterval(this.#noting)
    await this.#following?.close()
  }

  /** False where the files cannot be used: they may not be complete yet. */
  #reload(use: (context: SecureContextOptions) => void): boolean {
    const read = readCertificate(this.#files)
    this.#refused = 'message' in read ? read.message : undefined
    if (!('message' in read)) {
      const isNew = !isDeepStrictEqual(read.context, this.context)
      this.#certificate = read
      if (isNew) use(read.context)
    }
    this.#note()
    return this.#refused === undefined
  }

  #note(): void {
    const subject = { listener: this.#listener }
    if (this.#refused !== undefined) observations.note('certificate_refused', { subject, evidence: this.#refused })
    for (const { file, at } of this.#certificate.ends)
      if (at - Date.now() < EXPIRES_SOON_MS)
        observations.note('certificate_expires', { subject, evidence: `${file} ends ${new Date(at).toISOString()}` })
  }
}

const EXPIRES_SOON_MS = 14 * 86_400_000
/** Soon enough for the finding to last, see HOLDS_MS in src/observe/observations.ts. */
const NOTE_MS = 2000
