import { isLoopback } from '../domain/networks.ts'
import { int64, weaknessOf } from '../domain/units.ts'
import { addressAt, companyIds, type ListenAddress, mistakeAt, portConflicts, readDocument } from './document.ts'
import { child, itemsAt, type Node, nodeAt, type Path, textAt } from './node.ts'
import { openFilesMistake } from './open-files.ts'
import type { Mistake } from './problem.ts'
import { type Company, type Config, configSchema, defaultConfig, type Protocols } from './schema.ts'

/**
 * Reads gateway.yaml in the folder `dir`; in an empty file every key has its default. Without companies there is one to try out
 * the embedded tracking service with. `config` is absent if the file
 * has mistakes. `companyIds` includes companies with mistakes; it is absent if the file is not YAML.
 */
export function readGateway(text: string, protocols: Protocols, dir = '') {
  const { root, value, mistakes } = readDocument(text, configSchema(protocols, dir), (all) => [
    ...portConflicts(addresses(all, protocols)),
    ...companyIds(all).repeated,
    ...unknownCompanies(all),
    ...weakTokens(all),
    ...(protocols ? tooManyConnections(all) : []),
  ])
  const protocolNames = protocols?.map(({ name }) => name)
  const isNew = value && value.companies.length === 0 && isForTrials(value.tracking)
  return {
    config: isNew ? { ...value, companies: [TRY_OUT] } : value,
    companyIds: isNew ? new Set([TRY_OUT.company_id]) : root && companyIds(root).ids,
    protocolNames,
    mistakes,
  }
}

/** Whether positions go to the embedded tracking service alone, which only this machine reaches. */
function isForTrials({ base_url, push_url, listen }: Config['tracking']): boolean {
  return base_url === null && push_url === null && isLoopback(listen.host)
}

/** The company of a new installation; its keys are known, so nobody else may reach the tracking service. */
const TRY_OUT: Company = { company_id: '1', name: 'Try-out', apikey: 'try-out', oauth_token: 'try-out' }

/** The companies of tokens, groups, webhooks and pulls that are not among those of the file. */
function unknownCompanies(root: Node): Mistake[] {
  const { ids } = companyIds(root)
  const named = [
    ['admin', 'tokens'],
    ['admin', 'oidc', 'roles'],
    ['alerts', 'webhooks'],
  ].flatMap((path) => companiesIn(root, path))
  const pulls = itemsAt(child(root, 'roster'), 'pull').map((pull, index) => ({
    text: textAt(pull, 'company_id'),
    path: ['roster', 'pull', index, 'company_id'],
  }))
  return [...named, ...pulls].flatMap(({ text, path }) => {
    const id = int64(text ?? '')
    if (id === undefined || ids.has(id)) return []
    return [mistakeAt(root, path, `company ${id} is not among the companies of gateway.yaml`)]
  })
}

/** The companies of the items of a list, or of the values of a mapping. */
function companiesIn(root: Node, path: Path) {
  const all = nodeAt(root, path)
  const items: (readonly [key: PropertyKey, item: Node])[] =
    all?.kind === 'mapping'
      ? all.entries.map(({ key, value }) => [key, value])
      : [...(all?.kind === 'sequence' ? all.items : []).entries()]
  return items.flatMap(([key, item]) =>
    itemsAt(item, 'companies').map((company, at) => ({
      text: company.kind === 'leaf' ? company.text : undefined,
      path: [...path, key, 'companies', at],
    })),
  )
}

/** The tokens of the admin port, and the keys of webhooks' signatures, that are easily guessed. */
function weakTokens(root: Node): Mistake[] {
  const admin = child(root, 'admin')
  const tokens = itemsAt(admin, 'tokens').map((item, index) => ({
    value: item.kind === 'leaf' ? item.text : textAt(item, 'token'),
    path: item.kind === 'leaf' ? ['admin', 'tokens', index] : ['admin', 'tokens', index, 'token'],
  }))
  const hooks = itemsAt(child(root, 'alerts'), 'webhooks').map((hook, index) => ({
    value: textAt(hook, 'secret'),
    path: ['alerts', 'webhooks', index, 'secret'],
  }))
  const all = [...tokens, { value: textAt(admin, 'metrics_token'), path: ['admin', 'metrics_token'] }, ...hooks]
  return all.flatMap(({ value, path }): Mistake[] => {
    const weakness = value ? weaknessOf(value) : undefined
    return weakness === undefined ? [] : [{ ...mistakeAt(root, path, weakness), severity: 'weak' }]
  })
}

/** A number of connections that this machine does not let a process open; the default is lowered to what fits. */
function tooManyConnections(root: Node): Mistake[] {
  const connections = Number(textAt(child(root, 'limits'), 'max_connections'))
  const message = openFilesMistake(connections, Number(textAt(root, 'gateways')) || 1)
  return message === undefined ? [] : [mistakeAt(root, ['limits', 'max_connections'], message)]
}

/** Every address that the processes of one machine listen on, also in a file with other mistakes. */
function addresses(root: Node, protocols: Protocols): ListenAddress[] {
  const usual = defaultConfig(protocols)
  const listed = child(root, 'listeners')
  const transports =
    listed?.kind === 'sequence'
      ? listed.items.map((listener) => textAt(listener, 'transport'))
      : usual.listeners.map(({ transport }) => transport)
  const isBroker = nodeAt(root, ['mqtt', 'broker'])?.kind !== 'leaf'
  const isEmbedded = !textAt(child(root, 'tracking'), 'base_url')
  return [
    ...transports.map((transport, index) => {
      const address = listed?.kind === 'sequence' ? { host: '0.0.0.0', port: 0 } : usual.listeners[index]
      return addressAt(root, ['listeners', index], address, { family: transport === 'udp' ? 'udp' : 'tcp' })
    }),
    ...(isBroker ? brokerAddresses(root) : []),
    addressAt(root, ['admin'], usual.admin),
    ...(isEmbedded ? [addressAt(root, ['tracking', 'listen'], usual.tracking.listen)] : []),
    addressAt(root, ['monitor'], usual.monitor),
  ]
}

function brokerAddresses(root: Node): ListenAddress[] {
  const path = ['mqtt', 'broker']
  const plain = addressAt(root, path, { host: '0.0.0.0', port: 1883 })
  const isSecure = nodeAt(root, [...path, 'tls'])?.kind === 'mapping'
  return isSecure ? [plain, addressAt(root, path, { host: '0.0.0.0', port: 8883 }, { portKey: 'tls_port' })] : [plain]
}
