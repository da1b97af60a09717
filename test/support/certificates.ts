import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A certificate and its key: the files, and their text. */
export interface Issued {
  readonly files: { readonly cert: string; readonly key: string }
  readonly cert: string
  readonly key: string
}

interface Wanted {
  /** Of the subject; without it, there is none. */
  readonly cn?: string
  /** `DNS:localhost,IP:127.0.0.1` */
  readonly san?: string
  readonly days?: number
  /** The authority that signs it; else it signs itself. */
  readonly by?: Issued
  /** Whether it may sign others. */
  readonly isAuthority?: boolean
}

/** Makes certificates in a folder of its own with the system's openssl. */
export class CertificateMaker {
  readonly dir: string

  constructor(dir: string) {
    this.dir = dir
  }

  static async create(): Promise<CertificateMaker> {
    const dir = await mkdtemp(join(tmpdir(), 'waybridge-certificates-'))
    await writeFile(join(dir, 'openssl.cnf'), '[req]\ndistinguished_name = none\n[none]\n')
    return new CertificateMaker(dir)
  }

  async remove(): Promise<void> {
    await rm(this.dir, { recursive: true, force: true })
  }

  /** Writes `<name>.pem` and `<name>.key`; where they exist, they are replaced one after the other. */
  async issue(name: string, { cn, san, days = 365, by, isAuthority = false }: Wanted): Promise<Issued> {
    const files = { cert: join(this.dir, `${name}.pem`), key: join(this.dir, `${name}.key`) }
    const extensions = [`basicConstraints=critical,CA:${String(isAuthority).toUpperCase()}`]
    if (san) extensions.push(`subjectAltName=${san}`)
    const signer = by ? ['-CA', by.files.cert, '-CAkey', by.files.key] : []
    await openssl([
      ...'req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1'.split(' '),
      '-config',
      join(this.dir, 'openssl.cnf'),
      '-days',
      String(days),
      '-subj',
      cn ? `/CN=${cn}` : '/',
      ...extensions.flatMap((extension) => ['-addext', extension]),
      ...signer,
      '-keyout',
      `${files.key}.new`,
      '-out',
      `${files.cert}.new`,
    ])
    await rename(`${files.key}.new`, files.key)
    await rename(`${files.cert}.new`, files.cert)
    return this.issued(name)
  }

  /** A certificate that was issued. */
  issued(name: string): Issued {
    const files = { cert: join(this.dir, `${name}.pem`), key: join(this.dir, `${name}.key`) }
    return { files, cert: readFileSync(files.cert, 'utf8'), key: readFileSync(files.key, 'utf8') }
  }

  authority(name: string): Promise<Issued> {
    return this.issue(name, { cn: name, isAuthority: true })
  }

  /** A certificate for localhost that signs itself and ended yesterday. */
  async expired(name: string): Promise<Issued> {
    const { files } = await this.server(name)
    await openssl(['x509', '-in', files.cert, '-signkey', files.key, '-days', '-1', '-out', `${files.cert}.new`])
    await rename(`${files.cert}.new`, files.cert)
    return this.issued(name)
  }

  /** A certificate for localhost. */
  server(name: string, more: Wanted = {}): Promise<Issued> {
    return this.issue(name, { cn: 'localhost', san: 'DNS:localhost,IP:127.0.0.1', ...more })
  }
}

async function openssl(args: readonly string[]): Promise<void> {
  await promisify(execFile)('openssl', args)
}
