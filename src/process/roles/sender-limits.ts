import { connectionsThatFit } from '../../config/open-files.ts'
import type { Config } from '../../config/schema.ts'
import { networksOf } from '../../domain/networks.ts'
import { Backpressure } from '../../gateway/admit/backpressure.ts'
import { ConnectionLimits } from '../../gateway/admit/connection-limits.ts'
import { Flood } from '../../gateway/admit/flood.ts'
import { type NeighbourShares, Neighbours } from '../../gateway/admit/neighbours.ts'
import { Slots } from '../../gateway/admit/slots.ts'
import { UnknownDeviceQuota } from '../../gateway/unknown-devices.ts'
import { GuessDelays, rememberHeard } from '../../gateway/guesses.ts'
import { Trails } from '../../gateway/suspicion.ts'
import { guarded, logFault } from '../../observe/faults.ts'
import type { Logger } from '../../observe/log.ts'
import { openGatewayChannel, type ProcessIdentity, processId, type Store, silentProcesses } from '../../store/index.ts'

interface Gateway {
  readonly redis: Store
  readonly named: ProcessIdentity
  /** Number of gateways that share the ports. */
  readonly gateways: number
  readonly logger: Logger
  /** Called after each write to the roster. */
  rosterWritten(): void
}

/**
 * The limits of senders, for all listeners together. Gateways that share ports each have a part of the rates that the kernel
 * spreads over them; they tell each other how many connections are open, and what concerns single devices.
 */
export function openSenderLimits(config: Config, gateway: Gateway) {
  const { limits } = config
  const partOf = (limit: number) => Math.max(1, Math.floor(limit / gateway.gateways))
  const slots = new Slots(limits.max_connections_per_device)
  const connectionLimits = new ConnectionLimits(limits, { slots, fit: connectionsThatFit() })
  const guesses = new GuessDelays()
  for (const shard of gateway.redis.shards) void rememberHeard(shard, guesses)
  const trails = new Trails()
  return {
    ofListeners: {
      limits,
      slots,
      connectionLimits,
      flood: new Flood(undefined, gateway.gateways),
      pressure: new Backpressure(),
      trustedProxies: networksOf(config.trusted_proxies),
      udpPorts: new Set<number>(),
    },
    ofIdentity: { guesses, trails, unknownDevices: new UnknownDeviceQuota(partOf(config.hold.max_unknown_devices)) },
    ...meetNeighbours({ slots, guesses, trails, connectionLimits }, gateway),
  }
}

/** Returns a job for each second, and a function that ends it. */
function meetNeighbours(shares: NeighbourShares, { redis, named, logger, rosterWritten }: Gateway) {
  const gateway = processId(named)
  const neighbours: Neighbours = new Neighbours(shares, {
    ports: processId({ ...named, slot: 0 }),
    send: (text) => channel.send(text),
    silent: (gateways) => silentProcesses(redis, gateway, gateways),
  })
  const channel = openGatewayChannel(
    { redis, gateway },
    {
      opened: () => neighbours.began(),
      receive: (from, text) =>
        guarded(
          () => neighbours.receive(from, text),
          (error) => logFault(logger, error, { what: 'fault in a message of another gateway' }),
        ),
      rosterWritten,
    },
  )
  return {
    jobs: { neighbours: () => neighbours.report(), 'silent neighbours': () => neighbours.forgetSilent() },
    close() {
      neighbours.close()
      channel.close()
    },
  }
}
