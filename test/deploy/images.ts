import { cpSync, globSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onPath } from '../support/debian-program.mjs'
import { run } from './engine.ts'
import { CACHE, ROOT } from './place.mjs'

/*
 * Base images from Debian's packages, under the names that Dockerfile and compose files expect: no image registry is asked. Redis 7.0
 * and HAProxy 2.6 so take the place of 7.2 and 3.0.
 */
const DEBIAN = 'localhost/waybridge-debian'
const INSTALL = 'apt-get update && apt-get install --yes --no-install-recommends'
/** Certificates that this machine trusts, for npm behind a proxy that has one of its own. */
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

const IMAGES = {
  'docker.io/library/node:24-slim': [
    'COPY node /usr/local/bin/node',
    'COPY LICENSE /usr/local/LICENSE',
    'COPY npm /usr/local/lib/node_modules/npm',
    'COPY certificates.crt /usr/local/share/certificates.crt',
    'RUN cd /usr/local/bin && ln -s ../lib/node_modules/npm/bin/npm-cli.js npm && ln -s ../lib/node_modules/npm/bin/npx-cli.js npx',
    'RUN groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node',
    'ENV NODE_EXTRA_CA_CERTS=/usr/local/share/certificates.crt',
    'CMD ["node"]',
  ],
  'docker.io/library/redis:7.2-alpine': [
    `RUN ${INSTALL} redis-server && mkdir /data && chown 999:1000 /data`,
    'VOLUME /data',
    'WORKDIR /data',
  ],
  'docker.io/library/haproxy:3.0-alpine': [
    `RUN ${INSTALL} haproxy busybox && ln -s /bin/busybox /usr/local/bin/wget`,
    'CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]',
  ],
  'docker.io/prom/prometheus:v3.5.0': [
    `RUN ${INSTALL} prometheus && mkdir /prometheus && chown nobody /prometheus`,
    'USER nobody',
    'ENTRYPOINT ["prometheus"]',
  ],
}

/** Builds the base images. */
export async function baseImages(): Promise<void> {
  const context = join(CACHE, 'base')
  rmSync(context, { recursive: true, force: true })
  mkdirSync(context, { recursive: true })
  await debian()
  cpSync(process.execPath, join(context, 'node'))
  const [licence] = globSync(join(ROOT, 'node_modules/node/node_modules/node-linux-*/LICENSE'))
  cpSync(licence, join(context, 'LICENSE'))
  cpSync(npmFolder(), join(context, 'npm'), { recursive: true })
  cpSync(CERTIFICATES, join(context, 'certificates.crt'))
  for (const [name, lines] of Object.entries(IMAGES)) await build(name, lines, context)
}

/** The stage of docker/Dockerfile that has the file of `npm pack`. */
export const PACKAGE = 'localhost/waybridge-package'

/** Builds the product's image from a folder, so that the documented commands find its layers. */
export async function productImage(folder: string): Promise<void> {
  const file = join(folder, 'docker/Dockerfile')
  // As the compose files have it without COMMIT in the environment.
  const options = ['-f', file, '--build-arg', 'COMMIT=']
  await run('podman', 'build', ...options, '-t', PACKAGE, '--target', 'build', folder)
  await run('podman', 'build', ...options, '-t', 'waybridge', folder)
  // Those of versions that are gone.
  await run('podman', 'image', 'prune', '--force')
}

/** Builds an image from lines of a Dockerfile behind FROM, with the files of a folder. */
export async function build(name: string, lines: readonly string[], context: string, from = DEBIAN): Promise<void> {
  const file = join(CACHE, 'Dockerfile')
  writeFileSync(file, `FROM ${from}\n${lines.join('\n')}\n`)
  await run('podman', 'build', '--pull=never', '-f', file, '-t', name, context)
}

async function debian(): Promise<void> {
  const known = await run('podman', 'images', '--quiet', DEBIAN)
  if (known.trim()) return
  const folder = join(CACHE, 'debian')
  rmSync(folder, { recursive: true, force: true })
  await run('debootstrap', '--variant=minbase', 'bookworm', folder)
  const archive = `${folder}.tar`
  await run('tar', '-C', folder, '-cf', archive, '.')
  await run('podman', 'import', archive, DEBIAN)
  for (const path of [folder, archive]) rmSync(path, { recursive: true, force: true })
}

/** The folder of the npm on PATH. */
function npmFolder(): string {
  const command = onPath('npm')
  if (!command) throw new Error('there is no npm on PATH')
  return join(dirname(realpathSync(command)), '..')
}
