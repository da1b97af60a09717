import { SentinelConnector } from 'ioredis'

/**
 * Searches for the primary without the watch of the previous connection. If Sentinels name another primary in between, that
 * watch would end the search, and ioredis would never connect again. The watch is inside ioredis and no public method drops
 * it; a new connector for each search would forget the Sentinels found so far.
 */
export class LastingConnector extends SentinelConnector {
  override connect(emit: Parameters<SentinelConnector['connect']>[0]): ReturnType<SentinelConnector['connect']> {
    this.disconnect()
    // Else each further look would end it again, and Node would warn of a leak.
    Object.assign(this, { failoverDetector: null })
    return super.connect(emit)
  }
}
