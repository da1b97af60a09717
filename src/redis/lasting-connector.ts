import { SentinelConnector } from 'ioredis'

/**
 * Looks for the primary anew without the watch of the connection before. If Sentinels named another primary meanwhile, that
 * watch would end the look, and ioredis would never connect again. The watch is inside ioredis, and nothing public drops it: a
 * new connector for each look would forget the Sentinels that were found.
 */
export class LastingConnector extends SentinelConnector {
  override connect(emit: Parameters<SentinelConnector['connect']>[0]): ReturnType<SentinelConnector['connect']> {
    this.disconnect()
    // Else each further look would end it again, and Node would warn of a leak.
    Object.assign(this, { failoverDetector: null })
    return super.connect(emit)
  }
}
