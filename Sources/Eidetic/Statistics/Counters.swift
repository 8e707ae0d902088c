import EideticCore

/// The counters of a pipeline's statistics; any thread may add to them.
final class Counters: Sendable {
    private let state = Guarded(PipelineStatistics())

    var current: PipelineStatistics { state.withLock { $0 } }

    func countLoad() { state.withLock { $0.loads += 1 } }

    func count(_ response: ImageResponse) {
        // A local resource is neither a hit of a cache, nor would it have needed the network.
        let isLocal = response.trace.steps.contains { $0.stage == .origin }
        state.withLock { statistics in
            switch response.source {
            case .memory: statistics.memoryHits += 1
            case .disk, .shared: if !isLocal { statistics.diskHits += 1 }
            case .network: statistics.networkLoads += 1
            }
            if response.source != .network, !isLocal, !response.isTransferred {
                statistics.savedBytes += response.byteCount.bytes
            }
            for step in response.trace.steps { statistics.stages[step.stage, default: .init()].add(step.duration) }
        }
    }

    func count(_ error: EideticError) {
        state.withLock { statistics in
            if error.code == .cancelled { statistics.cancelled += 1 } else { statistics.failures += 1 }
        }
    }
}

extension PipelineStatistics.Stage {
    fileprivate mutating func add(_ duration: Duration) {
        count += 1
        total += duration
        longest = max(longest, duration)
    }
}

extension ImagePipeline {
    /// A Boolean value indicating whether no download, decode, write to disk or other job is active.
    package var isIdle: Bool {
        dataLoader.activeJobCount + imageLoader.activeJobCount + dataLoader.activeWriteCount == 0
    }

    /// The statistics of all loads since the pipeline was created.
    public var statistics: PipelineStatistics {
        var statistics = counters.current
        statistics.joined = dataLoader.joinedCount + imageLoader.joinedCount
        return statistics
    }
}
