import EideticCodecs
import EideticCore
import Testing

@Suite("Limits", .timeLimit(.minutes(5)))
struct LimitTests {
    private func decodingError(
        for bytes: [UInt8],
        options: DecodeOptions = DecodeOptions(),
        limits change: (inout DecodeLimits) -> Void = { _ in }
    ) -> EideticError? {
        var limits = DecodeLimits()
        change(&limits)
        do throws(EideticError) { _ = try ImageDecoder.decode(bytes, options: options, limits: limits) } catch {
            return error
        }
        return nil
    }

    @Test("F07 a picture that was not decoded and cannot be takes no memory to say so")
    func deferredFailure() async {
        // As transparent pixels it would take more memory than there is.
        let size = PixelSize(width: 1 << 20, height: 1 << 20), error = EideticError(.corrupt, message: "broken")
        let deferred = DeferredImage(size: size) { _ throws(EideticError) in
            throw error
        } decodeShared: { _ throws(EideticError) in
            throw error
        }
        for _ in 0..<2 { #expect(throws: EideticError.self) { try deferred.image() } }
    }

    @Test(
        "F07 a huge picture is refused by its header, with both numbers",
        arguments: [nil, PixelSize(width: 9, height: 9)]
    )
    func pixels(_ size: PixelSize?) {
        var png = PNGWriter(width: 50_000, height: 50_000)
        png.addPixels([0])
        let error = decodingError(png.finished, .with { $0.size = size })
        #expect(error?.code == .limitExceeded)
        #expect(error?.message.contains("2500000000") == true)
        #expect(error?.message.contains("134217728") == true)
    }

    @Test("F07 sizes that overflow are refused") func overflow() {
        var png = PNGWriter(width: 0x7fff_ffff, height: 0x7fff_ffff)
        png.addPixels([0])
        #expect(decodingError(png.finished)?.code == .limitExceeded)
        #expect(decodingError(png.finished) { $0.pixels = .max }?.code == .limitExceeded)
    }

    @Test("F07 each limit is inclusive", arguments: Fixture.everyFormat)
    func inclusive(_ fixture: Fixture) throws {
        let header = try #require(try ImageDecoder.header(of: fixture.bytes))
        let count = fixture.bytes.count, pixels = header.size.pixelCount
        #expect(
            decodingError(fixture.bytes) {
                $0.encodedBytes = ByteCount(count); $0.pixels = pixels
            } == nil
        )
        #expect(decodingError(fixture.bytes) { $0.encodedBytes = ByteCount(count - 1) }?.code == .limitExceeded)
        #expect(decodingError(fixture.bytes) { $0.pixels = pixels - 1 }?.code == .limitExceeded)
        #expect(decodingError(fixture.bytes) { $0.frames = header.frameCount } == nil)
        #expect(decodingError(fixture.bytes) { $0.frames = header.frameCount - 1 }?.code == .limitExceeded)
        guard header.frameCount > 1 else { return }
        let all = DecodeOptions.with { $0.frames = .all }
        let bytes = 4 * pixels * header.frameCount
        #expect(decodingError(fixture.bytes, all) { $0.animationBytes = ByteCount(bytes) } == nil)
        #expect(decodingError(fixture.bytes, all) { $0.animationBytes = ByteCount(bytes - 1) }?.code == .limitExceeded)
    }

    @Test("F07 a decode that takes too long stops", arguments: Fixture.everyFormat)
    func time(_ fixture: Fixture) {
        let error = decodingError(fixture.bytes) { $0.duration = .zero }
        #expect(error?.code == .limitExceeded)
        #expect(error?.message.contains("longer than the limit") == true)
    }

    @Test("F07 a cancelled decode stops", arguments: Fixture.everyFormat)
    func cancelled(_ fixture: Fixture) {
        let context = JobContext()
        context.cancel()
        let refusalCode = errorCode { () throws(EideticError) in
            try fixture.bytes.span.withUnsafeBytes { bytes throws(EideticError) in
                _ = try ImageDecoder.decode(bytes, options: DecodeOptions(), limits: .standard, context: context)
            }
        }
        #expect(refusalCode == .cancelled)
    }

    @Test("F07 a frame far larger than its canvas is refused") func frameLargerThanCanvas() {
        var gif = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0] + [0, 0, 0, 255, 255, 255]
        gif += [0x2c, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 2, 1, 0x44, 0, 0x3b]
        #expect(decodingError(gif)?.code == .limitExceeded)
    }
}

@Suite("Memory for decoding", .timeLimit(.minutes(5)))
struct DecodeMemoryTests {
    @Test("F07 a decode waits for its share, and the first to come is the first to go") func order() async throws {
        let memory = DecodeMemoryBudget(capacity: 100)
        let pool = WorkPool(name: "decode", maximumThreadCount: 3)
        let gate = Monitor(false)
        let finished = Guarded<[String]>([])
        let decode: @Sendable (String, Int) async throws -> Void = { name, bytes in
            try await pool.run { context throws(EideticError) in
                try memory.withReservation(of: bytes, context: context) {
                    if name == "first" { gate.wait { $0 ? () : nil } }
                    finished.withLock { $0.append(name) }
                }
            }
        }
        let open: @Sendable () -> Void = {
            gate.withLock { $0 = true }
            gate.broadcast()
        }
        let until: @Sendable (@Sendable () -> Bool) async throws -> Void = { isReached in
            while !isReached() {
                // A test that is given up must not leave a thread behind that waits for the gate.
                if Task.isCancelled { open() }
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        async let first: Void = decode("first", 80)
        try await until { memory.availableBytes == 20 }
        async let large: Void = decode("large", 90)
        try await until { memory.waitingCount == 1 }
        async let small: Void = decode("small", 10)
        try await until { memory.waitingCount == 2 }
        #expect(finished.withLock { $0 }.isEmpty)
        open()
        _ = try await (first, large, small)
        #expect(finished.withLock { $0.first } == "first")
        #expect(memory.availableBytes == 100 && memory.waitingCount == 0)
    }

    @Test("F07 a cancelled decode leaves the queue") func cancelled() async throws {
        let memory = DecodeMemoryBudget(capacity: 100)
        let context = JobContext()
        let refusalCode = try memory.withReservation(of: 80, context: JobContext()) { () throws(EideticError) in
            context.cancel()
            return errorCode { () throws(EideticError) in try memory.withReservation(of: 90, context: context) {} }
        }
        #expect(refusalCode == .cancelled)
        #expect(memory.availableBytes == 100 && memory.waitingCount == 0)
    }

    @Test("F07 one that needs more than there is goes alone") func alone() throws {
        let memory = DecodeMemoryBudget(capacity: 100)
        let result = try memory.withReservation(of: 1_000_000, context: JobContext()) { 7 }
        #expect(result == 7)
    }
}
