import EideticCore

/// The place of a kept decoder: a process, and the decoder's number there.
struct DecoderPlace: Sendable, Hashable {
    let process: Int
    let decoder: UInt32
}

/// The processes that keep decoders between requests.
///
/// Decoders share processes, of which there are as many as processors, and a process handles one request at a time. An
/// animation or a preview whose request is slow has its process to itself from then on: its other decoders are created
/// again in another process when they are needed.
struct KeptDecoders {
    /// A process and what it keeps.
    struct Host {
        let helper: HelperProcess
        /// The decoders, with the address space that each may need.
        var memory: [UInt32: Int] = [:]
        /// The decoders that nobody uses any more, and that the process still has.
        var released: [UInt32] = []
        /// The number of the animation or preview that has the process to itself; `nil` if others may share it.
        var owner: UInt32?
        /// A Boolean value indicating whether a thread uses the process.
        var isTaken = true
        var lastUse = 0
    }

    /// The next step of a thread that needs a process.
    enum Step {
        case use(process: Int, HelperProcess, isKept: Bool)
        case start
        /// Release this process, which another one is to replace, and look again.
        case end(process: Int)
    }

    private(set) var hosts: [Int: Host] = [:]
    private var lastHost = 0
    private var useCount = 0
    private(set) var startCount = 0
    /// The number of the last animation, preview or decoder.
    private var lastNumber: UInt32 = 0

    /// Returns a number that no animation, preview or decoder has.
    mutating func makeNumber() -> UInt32 {
        lastNumber &+= 1
        return lastNumber
    }

    /// Takes a process.
    ///
    /// - Parameters:
    ///   - owner: The number of the animation or preview.
    ///   - place: The place of its decoder; `nil` if it has none.
    ///   - isAlone: A Boolean value indicating whether it has a process to itself.
    ///   - format: The format of the image; `nil` if it is not known.
    ///   - sharedLimit: The largest number of processes that are shared.
    ///   - aloneLimit: The largest number of the other ones.
    /// - Returns: `nil` if all processes are taken: wait until one is given back.
    mutating func next(
        for owner: UInt32,
        at place: DecoderPlace?,
        isAlone: Bool,
        format: ImageFormat?,
        sharedLimit: Int,
        aloneLimit: Int
    ) -> Step? {
        if let place, let host = hosts[place.process], host.memory[place.decoder] != nil {
            if host.owner == nil || host.owner == owner {
                return host.isTaken ? nil : use(place.process, isKept: true)
            }
            release(place)
            // Nothing else would take a process without decoders whose owner is gone.
            if !host.isTaken, hosts[place.process]?.memory.isEmpty == true {
                hosts[place.process]?.isTaken = true
                return .end(process: place.process)
            }
        }
        guard !isAlone else { return startAlone(limit: aloneLimit) }
        let shared = hosts.filter { $0.value.owner == nil && $0.value.helper.canDecode(format) }
        let best = shared.filter { !$0.value.isTaken }
            .min { ($0.value.memory.count, $0.key) < ($1.value.memory.count, $1.key) }
        if let best, best.value.memory.isEmpty || shared.count + startCount >= sharedLimit {
            return use(best.key, isKept: false)
        }
        guard shared.count + startCount < sharedLimit else { return nil }
        startCount += 1
        return .start
    }

    private mutating func use(_ process: Int, isKept: Bool) -> Step? {
        guard var host = hosts[process] else { return nil }
        useCount += 1
        host.isTaken = true
        host.lastUse = useCount
        hosts[process] = host
        return .use(process: process, host.helper, isKept: isKept)
    }

    private mutating func startAlone(limit: Int) -> Step {
        if let surplus = takeSurplus(limit: limit - 1) { return .end(process: surplus) }
        startCount += 1
        return .start
    }

    /// Records a process that was started, and is taken; `nil` if it could not be.
    mutating func insert(_ helper: HelperProcess?, owner: UInt32?) -> Int {
        startCount -= 1
        guard let helper else { return 0 }
        lastHost += 1
        useCount += 1
        hosts[lastHost] = Host(helper: helper, owner: owner, lastUse: useCount)
        return lastHost
    }

    /// Records a decoder that a process keeps from now on.
    mutating func insert(_ place: DecoderPlace, memory: Int) { hosts[place.process]?.memory[place.decoder] = memory }

    /// Records that an animation or preview has a process to itself.
    mutating func setOwner(_ owner: UInt32, of process: Int) { hosts[process]?.owner = owner }

    /// Records that a process may be shared again.
    mutating func share(_ process: Int) { hosts[process]?.owner = nil }

    /// Takes the process with an owner that was used longest ago, if there are more than `limit` and one is free.
    mutating func takeSurplus(limit: Int) -> Int? {
        let alone = hosts.filter { $0.value.owner != nil }
        guard alone.count > limit,
            let oldest = alone.filter({ !$0.value.isTaken }).min(by: { $0.value.lastUse < $1.value.lastUse })
        else { return nil }
        hosts[oldest.key]?.isTaken = true
        return oldest.key
    }

    /// Records that nobody uses a decoder any more.
    mutating func release(_ place: DecoderPlace) {
        guard hosts[place.process]?.memory.removeValue(forKey: place.decoder) != nil else { return }
        hosts[place.process]?.released.append(place.decoder)
    }

    /// Takes a process whose decoders were released, if no other thread uses it.
    mutating func takeForRelease(_ process: Int) -> Bool {
        guard hosts[process]?.isTaken == false else { return false }
        hosts[process]?.isTaken = true
        return true
    }

    mutating func takeReleased(of process: Int, limit: Int) -> [UInt32] {
        let numbers = Array(hosts[process]?.released.prefix(limit) ?? [])
        hosts[process]?.released.removeFirst(numbers.count)
        return numbers
    }

    /// Ends the use of a process that was taken.
    ///
    /// - Returns: `true` if it keeps decoders; `false` if it was removed, because it keeps none.
    mutating func giveBack(_ process: Int) -> Bool {
        guard let host = hosts[process] else { return false }
        guard !host.memory.isEmpty else {
            hosts[process] = nil
            return false
        }
        hosts[process]?.isTaken = false
        return true
    }

    /// Takes all processes that no thread uses.
    mutating func takeAll() -> [Int] {
        let free = hosts.filter { !$0.value.isTaken }.map(\.key)
        for process in free { hosts[process]?.isTaken = true }
        return free
    }

    mutating func remove(_ process: Int) { hosts[process] = nil }

    /// The address space that the decoders of a process may need.
    func memory(of process: Int) -> Int { hosts[process]?.memory.values.reduce(0, +) ?? 0 }
}
