import EideticCodecs
import EideticCore

/// A decoder that a decoding process keeps, from the side of the application.
///
/// The application has the encoded bytes as well, so that another process can go on where one has ended. If the process
/// ends during a request, the request is repeated once, in a process without other decoders.
///
/// Unchecked: its user makes one call at a time.
final class RemoteDecoder: @unchecked Sendable {
    /// A request in progress.
    struct Call {
        let session: HelperSession
        let decoder: UInt32
        /// The properties of bytes that the decoder did not have before; `nil` if there are none.
        let properties: HelperReply?
        /// The address space that other decoders of the process need.
        let keptMemory: Int
    }

    private let pool: HelperPool
    private var options: KeptDecoderOptions
    /// The number by which the pool knows the animation or preview, whatever process has its decoder.
    private let owner: UInt32
    private var place: DecoderPlace?
    private var bytes: GrowingSharedBytes
    /// A Boolean value indicating whether no more bytes follow.
    private(set) var isComplete = false
    /// The bytes that the decoder at `place` has.
    private var sent: (count: Int, isComplete: Bool) = (0, false)
    /// The bytes that a process has parsed without an error; `nil` before the first call.
    private var parsed: (count: Int, isComplete: Bool)?
    /// The format of the image; `nil` if it is not known.
    private var format: ImageFormat?
    private var isAlone = false
    private var hasRestarted = false
    /// The calls since the last one that was slow, or whose process has ended.
    private var fastCallCount = 0
    /// The calls after which an animation shares a process again, since a busy machine makes each slow at times.
    private static let probation = 10
    /// The memory of decoding a frame; known once the header was parsed.
    var workingMemory = 0

    /// Creates a decoder; no process has it before the first call.
    init(
        _ kind: KeptDecoderOptions.Kind,
        byteCount: Int,
        isComplete: Bool,
        options: DecodeOptions,
        limits: DecodeLimits,
        maximumCopyBytes: Int = 0,
        pool: HelperPool
    ) throws(EideticError) {
        self.pool = pool
        bytes = try GrowingSharedBytes(byteCount: byteCount, isComplete: isComplete)
        owner = pool.keptDecoders.withLock { $0.makeNumber() }
        self.options = KeptDecoderOptions(
            kind: kind,
            number: 0,
            capacity: 0,
            maximumCopyBytes: maximumCopyBytes,
            options: options,
            limits: limits
        )
    }

    deinit { forget() }

    /// The number of bytes so far.
    var byteCount: Int { bytes.count }

    /// Appends bytes, which the next call passes on.
    func append(_ new: UnsafeRawBufferPointer, isComplete: Bool) throws(EideticError) {
        let count = bytes.count + new.count
        let limit = options.limits.encodedBytes.bytes
        guard count <= limit else {
            throw EideticError(.limitExceeded, message: "the file has \(count) bytes; the limit is \(limit)")
        }
        if bytes.count == 0 { format = ImageFormat.known(in: new) }
        if try !bytes.append(new) { forget() }
        self.isComplete = isComplete
    }

    /// Releases the decoder; the next call creates another one.
    func forget() {
        if let place { pool.release(place) }
        place = nil
    }

    /// Calls a function with a process that has the decoder and all bytes.
    ///
    /// - Parameters:
    ///   - context: Cancels the call; without one the thread does not wait for memory.
    ///   - threads: The pool of the calling thread, whose other jobs do not wait for a slow call.
    ///   - body: Sends requests.
    /// - Returns: What the function returns.
    /// - Throws: The errors of the function, `sandboxUnavailable` and `decoderFailed`.
    func call<Value>(
        context: JobContext?,
        pausing threads: WorkPool?,
        body: (Call) throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        while true {
            let process = try pool.take(for: owner, at: place, isAlone: isAlone, format: format, context: context)
            do throws(EideticError) {
                defer { pool.giveBack(process.number, helper: process.helper) }
                fastCallCount += 1
                let value = try call(process, context: context, pausing: threads, body: body)
                hasRestarted = false
                if isAlone, fastCallCount > Self.probation {
                    isAlone = false
                    pool.share(process.number)
                }
                return value
            } catch {
                // Whatever ended the process may have been another decoder's work, or that of the system.
                guard process.helper.hasEnded, error.code == .decoderFailed, !hasRestarted else {
                    if error.code != .cancelled { removeUnparsedBytes() }
                    throw error
                }
                hasRestarted = true
                isAlone = true
                fastCallCount = 0
            }
        }
    }

    private func call<Value>(
        _ process: HelperPool.TakenProcess,
        context: JobContext?,
        pausing threads: WorkPool?,
        body: (Call) throws(EideticError) -> Value
    ) throws(EideticError) -> Value {
        let session = HelperSession(
            pool: pool,
            helper: process.helper,
            limits: options.limits,
            context: context,
            threads: threads
        )
        session.slowed = { [self] in
            isAlone = true
            fastCallCount = 0
            pool.setAlone(owner, in: process.number)
        }
        defer { session.end() }
        let keptMemory = pool.keptDecoders.withLock { $0.memory(of: process.number) } + bytes.capacity
        let properties = try synchronize(process, by: session, keptMemory: keptMemory)
        return try body(Call(session: session, decoder: options.number, properties: properties, keptMemory: keptMemory))
    }

    /// Passes on the bytes that the decoder does not have, after it was created if necessary.
    private func synchronize(
        _ process: HelperPool.TakenProcess,
        by session: HelperSession,
        keptMemory: Int
    ) throws(EideticError) -> HelperReply? {
        if process.isKept, sent == (bytes.count, isComplete) { return nil }
        pool.countRequest()
        session.limit(memory: keptMemory)
        let reply = process.isKept ? try extend(by: session) : try keep(in: process, by: session)
        parsed = (bytes.count, isComplete)
        return reply
    }

    private func extend(by session: HelperSession) throws(EideticError) -> HelperReply {
        sent = (bytes.count, isComplete)
        return try session.reply(to: .extend(options.number, byteCount: bytes.count, isComplete: isComplete))
    }

    /// Removes bytes that no process could parse: the frames before them can still be decoded.
    private func removeUnparsedBytes() {
        guard options.kind == .animation, let parsed, parsed != (bytes.count, isComplete) else { return }
        bytes.removeBytes(from: parsed.count)
        isComplete = parsed.isComplete
        // The decoder may have none of the bytes.
        forget()
    }

    private func keep(in process: HelperPool.TakenProcess, by session: HelperSession) throws(EideticError)
        -> HelperReply
    {
        // A process is replaced after a number of images, of which those that come from another process are none.
        if place == nil { process.helper.countImage() }
        options.number = pool.keptDecoders.withLock { $0.makeNumber() }
        options.capacity = bytes.capacity
        let memory = try bytes.takeMemory(),
            request = HelperRequest.keep(options, byteCount: bytes.count, isComplete: isComplete)
        let place = DecoderPlace(process: process.number, decoder: options.number)
        pool.keptDecoders.withLock { $0.insert(place, memory: bytes.capacity + options.maximumCopyBytes) }
        self.place = place
        sent = (bytes.count, isComplete)
        defer { withExtendedLifetime(memory) {} }
        return try session.reply(to: request, descriptors: [memory.rawValue])
    }

    /// Records the memory of decoding a frame, as the process has announced it or its header implies.
    func recordMemory(workingMemory announced: Int) {
        workingMemory = min(announced, HelperSession.maximumMemory)
        guard let place else { return }
        let memory = bytes.capacity + options.maximumCopyBytes + 2 * workingMemory
        pool.keptDecoders.withLock { $0.insert(place, memory: memory) }
    }
}
