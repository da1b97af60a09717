import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, getCACertificates, type SecureContextOptions } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { observations } from '../observe/observations.ts'
import { say } from '../texts/text.ts'
import type { Bridge } from './bridge.ts'
import type { Copy } from './copies.ts'
import { inGateway } from './problem.ts'
import type { Pull } from './pull.ts'
import type { Config, TlsConfig } from './schema.ts'
import { type Following, fingerprintOf, follow } from './text-file.ts'

/** The configured certificate of one port; the admin port has no `client_ca`. */
export type CertificateFiles = Omit<TlsConfig, 'client_ca'> & Partial<Pick<TlsConfig, 'client_ca'>>

/** Certificate files that were read. */
export interface Certificate {
  readonly context: SecureContextOptions
  /** When each file's certificate ends, ms UTC. */
  readonly ends: readonly { readonly file: string; readonly at: number }[]
}

/** Why certificate files cannot be used: the key of the configuration, and a sentence that names the file. */
export interface CertificateMistake {
  readonly key: 'cert' | 'key' | 'client_ca' | 'ca'
  readonly message: string
}

/** Reads the files of a certificate, and checks that they belong together. */
function readCertificate(files: CertificateFiles): Certificate | CertificateMistake {
  const cert = readFile(files.cert, 'cert', certificateIn)
  if ('message' in cert) return cert
  const key = readFile(files.key, 'key', createPrivateKey)
  if ('message' in key) return key
  const clientCa = files.client_ca == null ? undefined : readFile(files.client_ca, 'client_ca', certificateIn)
  if (clientCa && 'message' in clientCa) return clientCa
  if (!cert.value.checkPrivateKey(key.value))
    return { key: 'key', message: `the key in ${files.key} does not belong to the certificate in ${files.cert}` }
  const context = { cert: cert.text, key: key.text, ca: clientCa?.text, ...PROFILES[files.profile] }
  try {
    createSecureContext(context)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { key: 'cert', message: `the certificate in ${files.cert} cannot be used: ${code ?? message}` }
  }
  const ends = [cert, ...(clientCa ? [clientCa] : [])].map(({ file, value }) => ({ file, at: +value.validToDate }))
  return { context, ends }
}

/** Reads the files that a connection to a broker needs for TLS, and checks that certificate and key belong together. */
export function readClientTls({
  ca,
  cert,
  key,
}: NonNullable<Bridge['tls']>): SecureContextOptions | CertificateMistake {
  const authority = ca === undefined ? undefined : readFile(ca, 'ca', certificateIn)
  if (authority && 'message' in authority) return authority
  const own =
    cert === undefined || key === undefined ? undefined : readCertificate({ cert, key, profile: 'intermediate' })
  if (own && 'message' in own) return own
  return { minVersion: 'TLSv1.2', ...own?.context, ca: authority?.text }
}

/** Reads the TLS files of an API; undefined if none is named. Its authority is trusted in addition to those of the system. */
export function readApiTls({
  ca,
  cert,
  key,
}: Config['tracking']['tls']): SecureContextOptions | CertificateMistake | undefined {
  if (ca === null && cert === null && key === null) return undefined
  if ((cert === null) !== (key === null))
    return cert === null ? { key: 'key', message: 'needs cert' } : { key: 'cert', message: 'needs key' }
  const read = readClientTls({ ca: ca ?? undefined, cert: cert ?? undefined, key: key ?? undefined })
  return 'message' in read || read.ca === undefined
    ? read
    : { ...read, ca: [...getCACertificates(), read.ca as string] }
}

/** Returns the TLS settings for the usual tracking API. @throws ConfigError if its files cannot be used */
export function trackingTls({ tls }: Config['tracking']): SecureContextOptions | undefined {
  const read = readApiTls(tls)
  if (read && 'message' in read) throw inGateway(`tracking.tls.${read.key}: ${read.message}`)
  return read
}

/** Returns the TLS settings for the server of a pull, or why its authority cannot be used; undefined: those of the system. */
export function pullTls({ ca }: Pick<Pull, 'ca'>): SecureContextOptions | CertificateMistake | undefined {
  return readApiTls({ ca, cert: null, key: null })
}

/** Why TLS files that the configuration names cannot be used, each with the path of its key. */
export function certificateMistakes({
  admin,
  companies,
  copies,
  listeners,
  mqtt,
  roster,
  tracking,
}: Pick<Config, 'admin' | 'companies' | 'copies' | 'listeners' | 'mqtt' | 'roster' | 'tracking'>) {
  const served = [
    ...listeners.map(({ tls }, index) => ({ path: ['listeners', index, 'tls'], tls })),
    { path: ['mqtt', 'broker', 'tls'], tls: mqtt.broker?.tls },
    { path: ['admin', 'tls'], tls: admin.tls },
  ]
  const presented = mqtt.bridges.map(({ tls }, index) => ({ path: ['mqtt', 'bridges', index, 'tls'], tls }))
  const copied = copies.map(({ tls }, index) => ({ path: ['copies', index, 'tls'], found: tls && readClientTls(tls) }))
  const pulled = roster.pull.map((pull, index) => ({ path: ['roster', 'pull', index], found: pullTls(pull) }))
  const all = [
    ...copied,
    ...pulled,
    ...served.map(({ path, tls }) => ({ path, found: tls && readCertificate(tls) })),
    ...presented.map(({ path, tls }) => ({ path, found: tls && readClientTls(tls) })),
    { path: ['tracking', 'tls'], found: readApiTls(tracking.tls) },
    ...companies.map(({ tracking: own }, index) => ({
      path: ['companies', index, 'tracking', 'tls'],
      found: own ? readApiTls(own.tls) : undefined,
    })),
  ]
  return all.flatMap(({ path, found }) =>
    found && 'message' in found ? [{ path: [...path, found.key], message: found.message }] : [],
  )
}

/**
 * Returns the TLS settings for the receiver of a copy; undefined: those of the system. @throws Error if its files cannot be
 * used
 */
export function copyTls({ tls }: Pick<Copy, 'tls'>): SecureContextOptions | undefined {
  const read = tls ? readClientTls(tls) : undefined
  if (read && 'message' in read) throw new Error(`tls.${read.key}: ${read.message}`)
  return read
}

/** Reads a value from a file. Mistakes do not quote the text, which may be a key. */
function readFile<Value>(
  file: string,
  key: CertificateMistake['key'],
  parse: (text: string) => Value,
): { file: string; text: string; value: Value } | CertificateMistake {
  try {
    const text = readFileSync(file, 'utf8')
    return { file, text, value: parse(text) }
  } catch (error) {
    const { code = '', syscall } = error as NodeJS.ErrnoException
    return { key, message: syscall ? `the file ${file} cannot be read (${code})` : `${file} ${NOT_PEM[key]}` }
  }
}

function certificateIn(text: string): X509Certificate {
  return new X509Certificate(text)
}

/**
 * The certificate of an open port. Changed files take effect at once; if they cannot be used, the earlier certificate stays.
 * Reports as observations that files cannot be used, and that a certificate ends soon.
 */
export class ServedCertificate {
  readonly #files: CertificateFiles
  readonly #listener: string
  readonly #endNoting: () => void
  #certificate: Certificate
  #refused: string | undefined
  #following: Following | undefined

  /** @param listener the name of the port, as in ports.json @throws ConfigError if the files cannot be used */
  constructor(files: CertificateFiles, listener: string) {
    const read = readCertificate(files)
    if ('message' in read) throw inGateway(`cannot open ${listener} with TLS: tls.${read.key}: ${read.message}`)
    this.#files = files
    this.#listener = listener
    this.#certificate = read
    this.#endNoting = observations.noteLasting(() => this.#note())
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
    this.#endNoting()
    await this.#following?.close()
  }

  /** Returns false if the files cannot be used: they may not be complete yet. */
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
    if (this.#refused !== undefined)
      observations.noteState('certificate_refused', { subject, evidence: [this.#refused], count: 1 })
    const ending = this.#certificate.ends.filter(({ at }) => at - Date.now() < EXPIRES_SOON_MS)
    const evidence = ending.map(({ file, at }) => say('{} ends {}', file, new Date(at).toISOString()))
    if (ending.length > 0) observations.noteState('certificate_expires', { subject, evidence, count: ending.length })
  }
}

const PROFILES: Record<TlsConfig['profile'], SecureContextOptions> = {
  intermediate: { minVersion: 'TLSv1.2' },
  old: { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
}
const NOT_PEM = {
  cert: 'is no certificate in PEM',
  key: 'is no private key in PEM without a passphrase',
  client_ca: 'is no certificate in PEM',
  ca: 'is no certificate in PEM',
}
const EXPIRES_SOON_MS = 14 * 86_400_000
