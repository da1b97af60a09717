import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config/load.ts'

/** Who may use the admin port. */
export interface Tokens {
  readonly tokens: readonly string[]
  /** Where a user finds one: `the file .data/admin-token`. */
  readonly place: string
}

/** The tokens of the configuration; where it has none, the one kept in `<data_dir>/admin-token`, made at the first start. */
export async function adminTokens({ admin, data_dir }: Pick<Config, 'admin' | 'data_dir'>): Promise<Tokens> {
  if (admin.tokens.length > 0)
    return { tokens: admin.tokens.map(({ token }) => token), place: 'admin.tokens of gateway.yaml' }
  return { tokens: [await keptToken(data_dir)], place: `the file ${tokenFile(data_dir)}` }
}

/** Where the token is kept that is made where the configuration has none. */
export function tokenFile(dataDir: string): string {
  return join(dataDir, 'admin-token')
}

/** Lets pass whoever presents a token; answers 401 to anybody else. Takes as long for a wrong one as for a right one. */
export function accessBy({ tokens, place }: Tokens) {
  const digests = tokens.map(digest)
  return async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const presented = /^Bearer +(.*\S)/i.exec(headers.authorization ?? '')?.[1]
    if (presented !== undefined && isOneOf(digests, digest(presented))) return undefined
    const message = `${presented === undefined ? 'no token' : 'not a token of this port'}: send the header "Authorization: Bearer <token>"; the token is in ${place}`
    return reply.code(401).header('www-authenticate', 'Bearer').send({ message })
  }
}

/** An empty file is what a full disk leaves behind: no token at all. */
async function keptToken(dataDir: string): Promise<string> {
  const file = tokenFile(dataDir)
  const kept = (await readFile(file, 'utf8').catch(ifMissing)).trim()
  if (kept !== '') return kept
  const token = randomBytes(32).toString('base64url')
  const draft = `${file}.new`
  await mkdir(dataDir, { recursive: true })
  await writeFile(draft, `${token}\n`, { mode: 0o600, flush: true })
  await rename(draft, file)
  return token
}

function ifMissing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return ''
  throw error
}

function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

function isOneOf(digests: readonly Buffer[], presented: Buffer): boolean {
  return digests.map((known) => timingSafeEqual(known, presented)).includes(true)
}
