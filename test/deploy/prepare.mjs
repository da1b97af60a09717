import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasApt } from '../../src/process/setup/apt.mjs'
import { BIN, CACHE, ROOT, RUN, unableBecause } from './place.mjs'

/*
 * Before `npm run test:deploy`: installs the engine and its tools where they are missing, and writes the configuration that keeps its
 * containers apart from those of the user. Where that cannot be, the tests are skipped with the reason.
 */
const PACKAGES = [
  'podman',
  'runc',
  'netavark',
  'aardvark-dns',
  'catatonit',
  'iptables',
  'iproute2',
  'ca-certificates',
  'debootstrap',
  'python3-venv',
]
const PYTHON_PACKAGES = ['podman-compose==1.6.0', 'kubernetes-validate==1.37.0']
const HELM = 'helm.sh/helm/v3/cmd/helm@v3.22.0'
const run = promisify(execFile)
const python = join(CACHE, 'python')

if (!unableBecause()) {
  mkdirSync(BIN, { recursive: true })
  configure()
  // Each is left out where it cannot be had: the tests say what is missing.
  await Promise.allSettled([installPackages().then(installPython), installHelm()])
}

async function installPackages() {
  const installed = spawnSync('dpkg-query', ['--show', '--showformat', '${db:Status-Abbrev}\n', ...PACKAGES])
  const isComplete = installed.status === 0 && !/^(?!ii)./m.test(installed.stdout.toString())
  if (isComplete || !hasApt()) return
  process.stderr.write(`Installing ${PACKAGES.join(', ')} …\n`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const options = ['-o', 'DPkg::Lock::Timeout=300', '-o', 'Dpkg::Use-Pty=0']
  await run('apt-get', [...options, 'update'], { env })
  await run('apt-get', [...options, 'install', '--yes', '--no-install-recommends', ...PACKAGES], { env })
}

async function installPython() {
  const done = join(python, `.${PYTHON_PACKAGES.join('-')}`)
  if (existsSync(done)) return
  process.stderr.write(`Installing ${PYTHON_PACKAGES.join(', ')} …\n`)
  await run('/usr/bin/python3', ['-m', 'venv', python])
  await run(join(python, 'bin/pip'), ['install', '--quiet', '--no-input', ...PYTHON_PACKAGES])
  writeFileSync(done, '')
}

async function installHelm() {
  if (existsSync(join(BIN, 'helm')) || spawnSync('go', ['version']).status !== 0) return
  process.stderr.write(`Building ${HELM} …\n`)
  await run('go', ['install', HELM], { env: { ...process.env, GOBIN: BIN, GOFLAGS: '-buildvcs=false' } })
}

/** The engine in a folder of its own, with settings that also work without systemd and in a network namespace. */
function configure() {
  program(
    'podman',
    'case "$1" in build) shift; exec nsenter --net="$WAYBRIDGE_OUTSIDE" /usr/bin/podman build --network=host "$@" ;; esac\nexec /usr/bin/podman "$@"',
  )
  program('docker', 'case "$1" in compose) shift; exec podman-compose "$@" ;; esac\nexec podman "$@"')
  const runtime = program(
    'oci-runtime',
    `exec '${process.execPath}' '${join(ROOT, 'test/deploy/oci-runtime.mjs')}' "$@"`,
  )
  write('containers.conf', [
    '[containers]',
    'init_path = "/usr/bin/catatonit"',
    'log_driver = "k8s-file"',
    '[network]',
    'network_backend = "netavark"',
    `network_config_dir = "${join(CACHE, 'networks')}"`,
    '[engine]',
    'cgroup_manager = "cgroupfs"',
    'events_logger = "file"',
    'runtime = "clamped"',
    // Where the podman that conmon calls looks, which restarts a container that ends.
    `static_dir = "${join(CACHE, 'storage/libpod')}"`,
    `volume_path = "${join(CACHE, 'volumes')}"`,
    `tmp_dir = "${join(RUN, 'libpod')}"`,
    '[engine.runtimes]',
    `clamped = ["${runtime}"]`,
  ])
  write('storage.conf', [
    '[storage]',
    'driver = "overlay"',
    `graphroot = "${join(CACHE, 'storage')}"`,
    `runroot = "${join(RUN, 'storage')}"`,
  ])
  write('registries.conf', ['unqualified-search-registries = ["docker.io"]', 'short-name-mode = "permissive"'])
}

/** @param {string} name @param {string} script */
function program(name, script) {
  const file = join(BIN, name)
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}

/** @param {string} name @param {string[]} lines */
function write(name, lines) {
  writeFileSync(join(CACHE, name), `${lines.join('\n')}\n`)
}
