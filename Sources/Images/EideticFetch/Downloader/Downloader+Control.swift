public import EideticCore
public import EideticHTTP

/// Settings that can change while downloads run.
extension Downloader {
    /// The largest number of concurrent downloads.
    ///
    /// A lower limit does not stop running downloads.
    public var maximumConcurrent: Int {
        get { scheduler.read { $0.maximumConcurrent } }
        set { scheduler.update { $0.maximumConcurrent = max(1, newValue) } }
    }

    /// The largest number of concurrent downloads from one origin.
    ///
    /// Two thirds of ``maximumConcurrent``, unless it was set.
    public var maximumPerHost: Int {
        get { scheduler.read { $0.maximumPerHost } }
        set { scheduler.update { $0.explicitMaximumPerHost = max(1, newValue) } }
    }

    /// The order in which downloads of equal priority start.
    public var executionOrder: ExecutionOrder {
        get { scheduler.read { $0.executionOrder } }
        set { scheduler.update { $0.executionOrder = newValue } }
    }

    /// The largest number of bytes per second for all downloads together; `nil` for no limit.
    public var maximumBytesPerSecond: Int? {
        get { scheduler.read { $0.maximumBytesPerSecond } }
        set { scheduler.setRateLimit(newValue) }
    }

    /// The header fields of every request; at first those of ``Configuration/headers``.
    ///
    /// New fields apply to all requests sent from now on, including redirects and retries. They are not part of an
    /// image's key: images cached with the earlier fields are also used with the new ones. With an invalid field,
    /// requests fail with `invalidArgument`.
    public var headers: HTTPHeaders {
        get { fields.own }
        set { fields.own = newValue }
    }

    /// The numbers of waiting and of running downloads.
    public var counts: (waiting: Int, running: Int) { scheduler.counts }

    /// Suspends all downloads of this priority and below.
    ///
    /// Waiting downloads do not start. Running downloads receive no bytes: their connections stay open, and the time
    /// does not count for their time-outs. They occupy no slots, so after ``resume()`` more downloads than the limit
    /// may run for a time, at most 16 times as many. A download whose priority is raised above `priority` continues.
    /// Each call replaces the previous one.
    ///
    /// - Parameter priority: The highest priority to suspend; `high`, all downloads, by default.
    public func suspend(upTo priority: LoadPriority = .high) {
        scheduler.updateSuspension { $0.suspendedPriority = priority }
    }

    /// Cancels all downloads; their callers receive `cancelled`.
    ///
    /// Streamed bodies continue until their readers end. Later downloads are not affected.
    public func cancelAll() { coalescer.cancelAll() }

    /// Resumes all suspended downloads.
    ///
    /// While the user of a pipeline scrolls, downloads of low priority stay suspended until the interaction ends.
    public func resume() { scheduler.updateSuspension { $0.suspendedPriority = nil } }

    /// Suspends downloads of low priority until a matching call of ``endInteraction()``: the user scrolls or drags.
    package func beginInteraction() { scheduler.updateSuspension { $0.interactionCount += 1 } }

    /// Ends an interaction that ``beginInteraction()`` began.
    package func endInteraction() { scheduler.updateSuspension { $0.interactionCount -= 1 } }

    /// A Boolean value indicating whether every new download fails with `offline`; `false` by default.
    ///
    /// Running downloads continue, including their redirects. Downloads that wait for a slot fail.
    public var isOffline: Bool {
        get { scheduler.isOffline }
        set { scheduler.setOffline(newValue) }
    }

    /// Resets everything that depends on the network: clears the failure list and ends the back-off of retries.
    ///
    /// New downloads use new connections, because existing ones may be dead. A downloader that observes the network
    /// calls this by itself.
    package func resetAfterNetworkChange() {
        scheduler.post(.networkChanged)
        failures.removeAll()
        state.resetAfterNetworkChange()
    }

    /// Removes all cookies.
    public func removeCookies() { scheduler.post(.removeCookies) }
}
