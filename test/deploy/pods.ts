import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KubernetesObject, Service } from './chart.ts'
import { podman } from './engine.ts'
import { CACHE } from './place.mjs'

/*
 * What a cluster makes of the pods of a chart, in pods of Podman: names of services, environment, files, users, limits of rights and
 * memory, restarts. No scheduler, no probes; a service is a name with the addresses of its pods.
 */

const NETWORK = 'waybridge-pods'
/** Of the network, and by which the gateways know HAProxy. */
export const SUBNET = '172.30.31.0/24'
const DOMAIN = 'default.svc.cluster.local'
const FOLDER = join(CACHE, 'pods')

interface Pod {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number }
    readonly containers: readonly Container[]
    readonly volumes?: readonly Volume[]
  }
}

interface Container {
  readonly name: string
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly Variable[]
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[]
  readonly resources?: { readonly limits?: { readonly memory?: string } }
}

interface Variable {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: { readonly secretKeyRef: { readonly key: string } }
}

interface Source {
  readonly configMap?: { readonly name: string }
}

type Volume = Source & { readonly name: string; readonly projected?: { readonly sources: readonly Source[] } }

interface Workload {
  readonly replicas: number
  readonly template: Pod
}

export class Pods {
  readonly #objects: readonly KubernetesObject[]
  readonly #secret: Readonly<Record<string, string>>
  #address = 10

  constructor(objects: readonly KubernetesObject[], secret: Readonly<Record<string, string>>) {
    this.#objects = objects
    this.#secret = secret
  }

  /** Starts all pods of StatefulSets and Deployments. Of `published` services the first pod has the ports on loopback. */
  async start(published: readonly string[]): Promise<void> {
    rmSync(FOLDER, { recursive: true, force: true })
    await podman('network', 'create', '--subnet', SUBNET, NETWORK)
    for (const { kind, metadata, spec } of this.#objects)
      if (kind === 'StatefulSet' || kind === 'Deployment') {
        const { replicas, template } = spec as Workload
        for (let pod = 0; pod < replicas; pod++)
          await this.#startPod(`${metadata.name}-${pod}`, template, pod === 0 ? published : [])
      }
  }

  /** Runs the pod of a test of helm to its end; resolves to what it prints. Rejects if it fails. */
  async test(name: string): Promise<string> {
    const { spec } = this.#objects.find(({ kind, metadata }) => kind === 'Pod' && metadata.name === name)!
    const pod = { metadata: { labels: {} }, spec: spec as Pod['spec'] }
    return podman('run', '--rm', '--network', NETWORK, ...this.#optionsOf(name, pod, pod.spec.containers[0]))
  }

  /** Kills a pod, empties one of its volumes, and starts it again. */
  async lose(name: string, volume: string): Promise<void> {
    await podman('pod', 'kill', containerName(name))
    const folder = join(FOLDER, name, volume)
    for (const entry of readdirSync(folder)) rmSync(join(folder, entry), { recursive: true })
    await podman('pod', 'start', containerName(name))
  }

  async #startPod(name: string, pod: Pod, published: readonly string[]): Promise<void> {
    const labels = { ...pod.metadata.labels, 'statefulset.kubernetes.io/pod-name': name }
    const has = ([key, value]: [string, string]) =>
      Object.entries(labels).some(([own, of]) => own === key && of === value)
    const services = this.#objects.flatMap(({ kind, metadata, spec }) => {
      if (kind !== 'Service') return []
      const { selector, ports } = spec as Service
      return Object.entries(selector).every(has) ? { name: metadata.name, ports } : []
    })
    const aliases = services.flatMap((each) => [each.name, `${each.name}.${DOMAIN}`])
    const ports = services
      .filter((each) => published.includes(each.name))
      .flatMap((each) => each.ports.map(({ port, protocol = 'TCP' }) => `${port}:${port}/${protocol.toLowerCase()}`))
    const address = SUBNET.replace('0/24', `${this.#address++}`)
    const options = [
      '--name',
      containerName(name),
      '--hostname',
      name,
      '--network',
      NETWORK,
      '--ip',
      address,
      ...aliases.flatMap((alias) => ['--network-alias', alias]),
      ...ports.flatMap((port) => ['--publish', port]),
    ]
    await podman('pod', 'create', ...options)
    for (const container of pod.spec.containers) {
      const own = ['--pod', containerName(name), '--name', containerName(name, container.name), '--restart=always']
      await podman('run', '--detach', ...own, ...this.#optionsOf(name, pod, container))
    }
  }

  #optionsOf(name: string, { spec }: Pod, container: Container): string[] {
    const { runAsUser, runAsGroup } = spec.securityContext
    const { command, args = [], env: variables = [], volumeMounts = [], resources } = container
    const memory = resources?.limits?.memory
    const env = variables.map(({ name: variable, value, valueFrom }) => {
      return `${variable}=${valueFrom ? this.#secret[valueFrom.secretKeyRef.key] : value}`
    })
    const mounts = volumeMounts.map((mount) => {
      return `${this.#folderOf(name, mount.name, spec)}:${mount.mountPath}:${mount.readOnly ? 'ro' : 'rw'}`
    })
    return [
      `--user=${runAsUser}:${runAsGroup}`,
      '--read-only',
      '--cap-drop=all',
      '--security-opt=no-new-privileges',
      ...(memory ? [`--memory=${memory.replace('i', '').toLowerCase()}`] : []),
      ...[`HOSTNAME=${name}`, ...env].flatMap((each) => ['--env', each]),
      ...mounts.flatMap((each) => ['--volume', each]),
      ...(command ? ['--entrypoint', JSON.stringify(command)] : []),
      container.image,
      ...args,
    ]
  }

  /** The folder of a volume: empty and open to all, or with the files of ConfigMaps. */
  #folderOf(pod: string, name: string, { volumes = [] }: Pod['spec']): string {
    const folder = join(FOLDER, pod, name)
    mkdirSync(folder, { recursive: true })
    chmodSync(folder, 0o777)
    const volume = volumes.find((each) => each.name === name)
    for (const { configMap } of volume?.projected?.sources ?? [volume ?? {}]) {
      const { data = {} } =
        this.#objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMap?.name) ?? {}
      for (const [file, text] of Object.entries(data)) writeFileSync(join(folder, file), text)
    }
    return folder
  }
}

/** The name of a pod, or of its container, in Podman. */
export function containerName(pod: string, container?: string): string {
  return ['waybridge', pod, container ?? []].flat().join('-')
}
