import EideticCore

/// Processes that keep decoders between requests.
extension HelperPool {
    /// A process that a thread uses alone until it gives it back.
    struct TakenProcess {
        let number: Int
        let helper: HelperProcess
        let isKept: Bool
    }

    /// Takes a process for a decoder; waits while other requests use it, but not while they are slow.
    ///
    /// - Parameters:
    ///   - owner: The number of the animation or preview.
    ///   - place: The place of its decoder; `nil` if it has none.
    ///   - isAlone: A Boolean value indicating whether it has a process to itself.
    ///   - format: The format of the image; `nil` if it is not known.
    ///   - context: Cancels the wait.
    /// - Returns: The process, to be given back.
    /// - Throws: `sandboxUnavailable` and `cancelled`.
    func take(
        for owner: UInt32,
        at place: DecoderPlace?,
        isAlone: Bool,
        format: ImageFormat?,
        context: JobContext?
    ) throws(EideticError) -> TakenProcess {
        try checkOwner()
        while true {
            try context?.checkCancellation()
            let step = keptDecoders.wait(for: HelperProcess.interval) { kept in
                kept.next(
                    for: owner,
                    at: place,
                    isAlone: isAlone,
                    format: format,
                    sharedLimit: max(1, settings.idleLimit),
                    aloneLimit: settings.aloneLimit
                )
            }
            switch step {
            case nil: continue
            case .start: return try startKeeping(owner: isAlone ? owner : nil, format: format)
            case .end(let process): removeProcess(process)
            case .use(let process, let helper, let isKept):
                if helper.isQuiet { return TakenProcess(number: process, helper: helper, isKept: isKept) }
                removeProcess(process)
            }
        }
    }

    private func startKeeping(owner: UInt32?, format: ImageFormat?) throws(EideticError) -> TakenProcess {
        do throws(EideticError) {
            let helper = try acquire(for: format)
            let number = keptDecoders.withLock { $0.insert(helper, owner: owner) }
            return TakenProcess(number: number, helper: helper, isKept: false)
        } catch {
            keptDecoders.withLock { _ = $0.insert(nil, owner: nil) }
            keptDecoders.broadcast()
            throw error
        }
    }

    func giveBack(_ process: Int, helper: HelperProcess) {
        guard !helper.isBusy || helper.hasEnded else {
            // A cancelled request gets a little time to end.
            return drains.enqueue { [self] in
                if helper.drain(within: settings.slowTime) {
                    giveBack(process, helper: helper)
                } else {
                    removeProcess(process)
                }
            }
        }
        guard !helper.hasEnded, helper.imageCount < settings.imageLimit, isCurrent(helper),
            sendReleases(to: helper, of: process)
        else { return removeProcess(process) }
        keptDecoders.broadcast()
    }

    /// Sends the numbers of released decoders, and returns the process to those that others may take.
    ///
    /// - Returns: `false` if the process has ended.
    private func sendReleases(to helper: HelperProcess, of process: Int) -> Bool {
        // The system may refuse; then an animation that was slow gives way as long as it lives.
        helper.setLowered(false)
        while true {
            let (released, isKept) = keptDecoders.withLock { kept -> ([UInt32], Bool) in
                let released = kept.takeReleased(of: process, limit: HelperRequest.maximumReleaseCount)
                return (released, released.isEmpty ? kept.giveBack(process) : true)
            }
            if released.isEmpty {
                if !isKept { giveBack(helper) }
                return true
            }
            do throws(EideticError) { try helper.send(.release(released)) } catch { return false }
        }
    }

    /// Ends a process with all its decoders, which are created again in others when they are needed.
    func removeProcess(_ process: Int) {
        let helper = keptDecoders.withLock { kept in
            defer { kept.remove(process) }
            return kept.hosts[process]?.helper
        }
        keptDecoders.broadcast()
        if let helper { replace(helper) }
    }

    /// Releases a decoder that nobody uses any more; returns at once.
    func release(_ place: DecoderPlace) {
        let helper = keptDecoders.withLock { kept -> HelperProcess? in
            kept.release(place)
            return kept.takeForRelease(place.process) ? kept.hosts[place.process]?.helper : nil
        }
        guard let helper else { return }
        drains.enqueue { [self] in giveBack(place.process, helper: helper) }
    }

    /// Records that an animation or preview keeps its process busy: other decoders there are created again elsewhere.
    func setAlone(_ owner: UInt32, in process: Int) {
        let surplus = keptDecoders.withLock { kept in
            kept.setOwner(owner, of: process)
            return kept.takeSurplus(limit: settings.aloneLimit)
        }
        keptDecoders.broadcast()
        if let surplus { removeProcess(surplus) }
    }

    /// Records that the decoder of an animation or preview is no longer alone in its process.
    func share(_ process: Int) {
        keptDecoders.withLock { $0.share(process) }
        keptDecoders.broadcast()
    }

    /// The number of processes that an animation or preview has to itself.
    package var aloneCount: Int { keptDecoders.withLock { $0.hosts.values.count { $0.owner != nil } } }

    package var keepingStartCount: Int { keptDecoders.withLock { $0.startCount } }

    package var keepingIdentifiers: [Int32] { keptDecoders.withLock { $0.hosts.values.map(\.helper.identifier) } }

    package var keptDecoderCount: Int { keptDecoders.withLock { $0.hosts.values.reduce(0) { $0 + $1.memory.count } } }
}
