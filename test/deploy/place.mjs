import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/* Where the tests of a deployment keep what they build, and the names of what they run: never a container, image or network of the user. */

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Kept between runs: base images, layers of builds, tools. */
export const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'waybridge/deploy')
/** Programs as the documents call them: docker, podman, podman-compose, kubernetes-validate, helm. */
export const BIN = join(CACHE, 'bin')
/** The working copy of the repository in which the documented commands run. */
export const COPY = join(CACHE, 'copy')
/** State of running containers: gone after a reboot. */
export const RUN = '/run/waybridge-deploy'
/** The network namespace of all containers: it has no way out. */
export const NAMESPACE = 'waybridge-deploy'

/** Environment of every engine call: storage, network and runtime of our own. */
export const engineEnv = {
  ...process.env,
  PATH: `${BIN}:${join(CACHE, 'python/bin')}:${process.env.PATH}:/usr/sbin:/sbin`,
  CONTAINERS_CONF: join(CACHE, 'containers.conf'),
  CONTAINERS_STORAGE_CONF: join(CACHE, 'storage.conf'),
  CONTAINERS_REGISTRIES_CONF: join(CACHE, 'registries.conf'),
  BUILDAH_ISOLATION: 'chroot',
  // The other format has no health checks.
  BUILDAH_FORMAT: 'docker',
}

/** Why these tests cannot run here, before anything is installed; undefined if they can. */
export function unableBecause() {
  if (process.platform !== 'linux') return 'containers need Linux'
  if (process.getuid?.() !== 0) return 'network namespaces and containers need root'
  const namespaces = spawnSync('unshare', ['--mount', '--net', 'true'])
  return namespaces.status === 0 ? undefined : 'this machine allows no namespaces'
}

/** The first program that is missing after the preparation. */
export function missingProgram() {
  const programs = [
    '/usr/bin/podman',
    '/usr/sbin/runc',
    '/usr/sbin/debootstrap',
    join(CACHE, 'python/bin/podman-compose'),
  ]
  return programs.find((program) => !existsSync(program))
}
