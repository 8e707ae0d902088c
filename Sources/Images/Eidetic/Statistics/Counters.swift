import EideticCore

/// The counters of a pipeline's statistics; any thread may add to them.
final class Counters: Sendable {
    private struct State {
        var statistics = PipelineStatistics()
        /// The hits in memory that were a whole load: counted apart, because a look-up by stage takes as long as a hit.
        var memoryHits = PipelineStatistics.Stage()
        var savedBytes = 0
    }

    private let state = Guarded(State())

    var current: PipelineStatistics {
        let state = state.withLock { $0 }
        var statistics = state.statistics
        guard state.memoryHits.count > 0 else { return statistics }
        statistics.loads += state.memoryHits.count
        statistics.memoryHits += state.memoryHits.count
        statistics.savedBytes += state.savedBytes
        statistics.stages[.memory, default: .init()].add(state.memoryHits)
        return statistics
    }

    func countLoad() { state.withLock { $0.statistics.loads += 1 } }

    func countMemoryHit(_ image: Image, after duration: Duration) {
        let byteCount = image.encodedSize.bytes
        state.withLock { state in
            state.savedBytes += byteCount
            state.memoryHits.add(duration)
        }
    }

    func count(_ response: ImageResponse) {
        // A local resource is neither a hit of a cache, nor would it have needed the network.
        let isLocal = response.trace.steps.contains { $0.stage == .origin }
        state.withLock { state in
            switch response.source {
            case .memory: state.statistics.memoryHits += 1
            case .disk:
                if !isLocal { state.statistics.diskHits += 1 }
                if response.isDerived { state.statistics.derivedHits += 1 }
            case .provider: break
            case .shared: state.statistics.sharedHits += 1
            case .network: state.statistics.networkLoads += 1
            }
            if response.source != .network, !isLocal, !response.isTransferred {
                state.statistics.savedBytes += response.byteCount.bytes
            }
            for step in response.trace.steps {
                state.statistics.stages[step.stage, default: .init()].add(step.duration, waiting: step.waiting)
            }
        }
    }

    func count(_ error: EideticError) {
        state.withLock { state in
            if error.code == .cancelled { state.statistics.cancelled += 1 } else { state.statistics.failures += 1 }
        }
    }
}

extension PipelineStatistics.Stage {
    fileprivate mutating func add(_ duration: Duration, waiting: Duration = .zero) {
        add(Self(count: 1, total: duration, waiting: waiting, longest: duration))
    }

    fileprivate mutating func add(_ other: Self) {
        count += other.count
        total += other.total
        waiting += other.waiting
        longest = max(longest, other.longest)
    }
}

extension ImagePipeline {
    /// A Boolean value indicating whether no download, decode, write to disk or other job is active.
    package var isIdle: Bool { imageLoader.isIdle }

    /// Waits until the derived images of all finished loads, and the parts of cancelled ones, are on disk; for a
    /// program that is about to exit.
    package func finishWrites() async {
        await imageLoader.derived.activity.waitUntilIdle()
        // Parts are what cancellations leave.
        await dataLoader.disk.parts?.activity.waitUntilIdleUncancelled()
    }

    /// The statistics of all loads since the pipeline was created.
    public var statistics: PipelineStatistics {
        var statistics = counters.current
        statistics.joined = imageLoader.joinedCount
        let counts = imageLoader.stage.sandboxCounts.withLock { $0 }
        statistics.sandboxedImages = counts.sandboxed
        statistics.unsandboxedImages = counts.unsandboxed
        return statistics
    }
}
