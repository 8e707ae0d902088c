public import EideticCore

/// What may be changed while downloads run.
extension Downloader {
    /// The most downloads at once.
    ///
    /// Those above a lower limit are not stopped.
    public var maximumConcurrent: Int {
        get { scheduler.read { $0.maximumConcurrent } }
        set { scheduler.update { $0.maximumConcurrent = max(1, newValue) } }
    }

    /// The most downloads at once from one origin.
    public var maximumPerHost: Int {
        get { scheduler.read { $0.maximumPerHost } }
        set { scheduler.update { $0.maximumPerHost = max(1, newValue) } }
    }

    /// Which of equally urgent downloads starts first.
    public var executionOrder: ExecutionOrder {
        get { scheduler.read { $0.executionOrder } }
        set { scheduler.update { $0.executionOrder = newValue } }
    }

    /// How many downloads wait for a slot, and how many run.
    public var counts: (waiting: Int, running: Int) { scheduler.counts }

    /// How many bytes a second one download from `origin` got of late; `nil` where none was measured in five minutes.
    ///
    /// An average in which newer downloads weigh more, from the first request to the last byte. One that was redirected
    /// counts for the origin that was asked and for the one that answered. Bodies below 16 KiB do not count, nor downloads
    /// that were held back.
    public func speed(of origin: Origin) -> Double? { state.speed(of: origin) }

    /// Lets no download of this priority and below start, and stops those that run from taking bytes.
    ///
    /// Their connections stay open, and the time does not count for their time-outs. They take no slot meanwhile: when
    /// they go on, more than the limit may run until some have ended, 16 times as many at most. A download that becomes
    /// more urgent goes on. Each call replaces the one before.
    ///
    /// - Parameter priority: `high`, all of them, by default.
    public func suspend(upTo priority: LoadPriority = .high) {
        scheduler.updateSuspension { $0.suspendedPriority = priority }
    }

    /// Lets all downloads go on that were suspended.
    ///
    /// While the user of a pipeline scrolls, those of low priority still wait for the end of it.
    public func resume() { scheduler.updateSuspension { $0.suspendedPriority = nil } }

    /// Says that the user of one more pipeline scrolls or drags; low priority waits until all have ended.
    package func beginInteraction() { scheduler.updateSuspension { $0.interactionCount += 1 } }

    /// Ends what `interactionBegan` began.
    package func endInteraction() { scheduler.updateSuspension { $0.interactionCount -= 1 } }

    /// Whether nothing is asked of the network: every download fails at once as `offline`.
    ///
    /// Downloads that run already go on, to the end of their redirects; those that wait for a slot end. False by default.
    public var isOffline: Bool {
        get { scheduler.read { $0.isOffline } }
        set { scheduler.setOffline(newValue) }
    }

    /// Says that the network came back: the list of failures is cleared, and waits before further attempts end.
    ///
    /// New downloads get new connections, since those from before may be dead. The downloader does all of this by itself
    /// where it observes the network.
    public func resetAfterNetworkChange() {
        scheduler.post(.networkChanged)
        failures.removeAll()
        state.resetAfterNetworkChange()
    }

    /// Limits all downloads together to so many bytes a second; `nil` for no limit.
    public func limitRate(_ bytesPerSecond: Int?) { scheduler.post(.setRateLimit(bytesPerSecond)) }

    /// Throws all cookies away.
    public func removeCookies() { scheduler.post(.removeCookies) }
}
