import EideticCodecs
import EideticCore
import Glibc

/// The loop of a decoding process: one request after the other.
struct HelperLoop {
    private let socket: PacketSocket
    private var input: MappedMemory?
    private var window: MappedMemory?
    private var session: DecodeSession?
    /// The decoders that were asked for, until they are released.
    private var keptDecoders: [UInt32: KeptDecoder] = [:]

    init(socket: PacketSocket) { self.socket = socket }

    /// Handles requests until the socket is closed.
    mutating func run() {
        while wait(for: Int16(POLLIN)) {
            do throws(SystemError) {
                switch try socket.receive() {
                case .none: continue
                case .end: return
                case .packet(let packet): try handle(packet)
                }
            } catch {
                return
            }
        }
    }

    /// Sends a reply; ends the process if its socket is closed.
    func send(_ reply: HelperReply) {
        do throws(SystemError) {
            while try !socket.send(WireWriter.encode(reply)) { _ = wait(for: Int16(POLLOUT)) }
        } catch {
            _exit(0)
        }
    }

    private func wait(for events: Int16) -> Bool {
        var entry = pollfd(fd: socket.rawValue, events: events, revents: 0)
        while poll(&entry, 1, -1) < 0 { guard errno == EINTR else { return false } }
        return true
    }

    private mutating func handle(_ packet: PacketSocket.Packet) throws(SystemError) {
        // Descriptors are closed before the reply is sent: the application uses no pixels that can still be changed.
        if let reply = result(of: packet) { send(reply) }
    }

    /// Handles a request; returns `nil` if it has no reply.
    private mutating func result(of packet: PacketSocket.Packet) -> HelperReply? {
        let descriptors = packet.takeDescriptors()
        defer { for number in descriptors { close(number) } }
        do throws(EideticError) {
            return try reply(to: try Self.request(packet.bytes), descriptor: descriptors.first)
        } catch {
            session = nil
            return .failure(error.code, message: error.message)
        }
    }

    private static func request(_ bytes: [UInt8]) throws(EideticError) -> HelperRequest {
        do throws(WireError) {
            return try WireReader.decode(HelperRequest.self, from: bytes)
        } catch {
            throw EideticError(.decoderFailed, message: "a request to the decoding process: \(error)")
        }
    }

    private mutating func reply(
        to request: HelperRequest,
        descriptor: Int32?
    ) throws(EideticError) -> HelperReply? {
        switch request {
        case .input(let byteCount):
            session = nil
            input = try MappedMemory(descriptor: descriptor ?? -1, byteCount: byteCount, access: .read)
            return nil
        case .window(let byteCount):
            window = try MappedMemory(descriptor: descriptor ?? -1, byteCount: byteCount, access: .readWrite)
            return nil
        case .header(let byteCount, let isComplete):
            let header = try ImageDecoder.header(of: try bytes(count: byteCount), isComplete: isComplete)
            return .header(try header.map { header throws(EideticError) in try describe(header) })
        case .open(let byteCount, let options, let limits, let immediateMemory):
            session = nil
            let session = try DecodeSession(bytes: try bytes(count: byteCount), options: options, limits: limits)
            return try opened(session, immediateMemory: immediateMemory)
        case .decode(let layout, let isInWindow):
            guard let session else { throw EideticError(.decoderFailed, message: "no image was opened") }
            self.session = nil
            let memory = try target(layout, descriptor: isInWindow ? nil : descriptor)
            let result = try write(layout, to: memory) { () throws(EideticError) in try session.decode() }
            guard let result else { throw EideticError(.decoderFailed, message: "there is no image") }
            return .decoded(result)
        case .keep(let options, let byteCount, let isComplete):
            let decoder = try KeptDecoder(options, descriptor: descriptor ?? -1)
            // Bytes that are too few for now are no reason to create it again.
            keptDecoders[options.number] = decoder
            return try extend(decoder, to: byteCount, isComplete: isComplete)
        case .extend(let number, let byteCount, let isComplete):
            return try extend(try keptDecoder(number), to: byteCount, isComplete: isComplete)
        case .frame(let number, let index, let layout, let isInWindow):
            let decoder = try keptDecoder(number)
            let memory = try target(layout, descriptor: isInWindow ? nil : descriptor)
            let result = try write(layout, to: memory) { () throws(EideticError) in try decoder.image(at: index) }
            return .frame(result, decoder.usage)
        case .release(let numbers):
            for number in numbers { keptDecoders[number] = nil }
            return nil
        case .metadata(let byteCount, let capacity):
            let metadata = try ImageMetadata(withPartsOf: Array(try bytes(count: byteCount)))
            let layout = MetadataLayout(metadata)
            let memory = try MappedMemory(descriptor: descriptor ?? -1, byteCount: capacity, access: .readWrite)
            guard layout.byteCount <= memory.byteCount else {
                throw EideticError(.limitExceeded, message: "the metadata have \(layout.byteCount) bytes")
            }
            let target = UnsafeMutableRawBufferPointer(start: memory.base, count: memory.byteCount)
            MetadataLayout.write(metadata, to: target)
            return .metadata(layout)
        }
    }

    private func keptDecoder(_ number: UInt32) throws(EideticError) -> KeptDecoder {
        guard let decoder = keptDecoders[number] else {
            throw EideticError(.decoderFailed, message: "there is no decoder \(number)")
        }
        return decoder
    }

    private func extend(
        _ decoder: KeptDecoder,
        to byteCount: Int,
        isComplete: Bool
    ) throws(EideticError) -> HelperReply {
        switch try decoder.extend(to: byteCount, isComplete: isComplete) {
        case .animation(let info):
            let description = try info.map { info throws(EideticError) in
                try write(info.durations)
                return AnimationDescription(info)
            }
            return .animation(description, decoder.usage)
        case .preview(let session): return try opened(session, isPreview: true)
        }
    }

    /// Decodes the image at once, if it needs little memory; otherwise, keeps it for the next request.
    private mutating func opened(_ session: DecodeSession, immediateMemory: Int) throws(EideticError) -> HelperReply {
        let reply = try opened(session)
        guard case .opened(let header, let memory, let layout) = reply, memory.working <= immediateMemory,
            header.durationCount == 0, layout.byteCount <= HelperSession.copiedByteCount, let window
        else {
            self.session = session
            return reply
        }
        let result = try write(layout, to: window) { () throws(EideticError) in try session.decode() }
        guard let result else { throw EideticError(.decoderFailed, message: "there is no image") }
        return .decodedAtOnce(header, layout, result)
    }

    private func opened(_ session: DecodeSession, isPreview: Bool = false) throws(EideticError) -> HelperReply {
        guard let layout = ResultLayout(size: session.resultSize, frameCount: session.maximumFrameCount) else {
            throw EideticError(.limitExceeded, message: "\(session.resultSize) pixels are out of range")
        }
        return .opened(try describe(session.header), DecodeMemory(session, isPreview: isPreview), layout)
    }

    private func bytes(count: Int) throws(EideticError) -> UnsafeRawBufferPointer {
        guard let input, (0...input.byteCount).contains(count) else {
            throw EideticError(.decoderFailed, message: "\(count) encoded bytes exceed the shared memory")
        }
        return input.bytes(count: count)
    }

    /// Writes the durations into the window, and returns the rest of the header.
    private func describe(_ header: ImageHeader) throws(EideticError) -> HeaderDescription {
        try write(header.durations)
        return HeaderDescription(header)
    }

    private func write(_ durations: [Duration]) throws(EideticError) {
        let count = durations.count
        guard let window, count <= ResultLayout.maximumFrameCount, 8 * count <= window.byteCount else {
            throw EideticError(.limitExceeded, message: "\(count) frames exceed the shared memory")
        }
        for (index, duration) in durations.enumerated() {
            window.base.storeBytes(of: duration.inNanoseconds, toByteOffset: 8 * index, as: Int64.self)
        }
    }

    private func target(_ layout: ResultLayout, descriptor: Int32?) throws(EideticError) -> MappedMemory {
        if let descriptor {
            return try MappedMemory(descriptor: descriptor, byteCount: layout.byteCount, access: .readWrite)
        }
        guard let window, layout.byteCount <= window.byteCount else {
            throw EideticError(.decoderFailed, message: "the result exceeds the shared memory")
        }
        return window
    }

    /// Decodes into shared memory, which is no longer mapped afterwards unless it is the window.
    ///
    /// - Returns: `nil` if `decode` returns no image.
    private func write(
        _ layout: ResultLayout,
        to memory: MappedMemory,
        decode: () throws(EideticError) -> Image?
    ) throws(EideticError) -> ResultDescription? {
        let start = ProcessorTime.ofProcess
        let pages = memory === window ? nil : PageAccess(to: memory)
        defer { pages?.end() }
        LentMemory.lend(memory.base, partSize: layout.partSize, count: layout.frameCount)
        defer { LentMemory.reclaim() }
        guard let image = try decode() else { return nil }
        guard image.frames.count <= layout.frameCount, image.frames.allSatisfy({ $0.pixels.size == layout.size })
        else {
            throw EideticError(.corrupt, message: "\(image.format): the pixels are not those that the header announces")
        }
        for (index, frame) in image.frames.enumerated() {
            let part = try Self.part(of: frame.pixels, in: memory, layout: layout)
            let record = FrameRecord(duration: max(.zero, frame.duration), part: part, alpha: frame.pixels.alpha)
            record.write(to: memory.base + layout.recordOffset + index * ResultLayout.recordSize)
        }
        return ResultDescription(image, processorTime: ProcessorTime.ofProcess - start)
    }

    /// Returns the part of shared memory with the pixels, which are copied unless they were decoded there.
    private static func part(
        of pixels: PixelBuffer,
        in memory: MappedMemory,
        layout: ResultLayout
    ) throws(EideticError) -> Int {
        let source = pixels.unsafeBytes
        let isDense = pixels.bytesPerRow == 4 * layout.size.width
        if isDense, let part = source.baseAddress.flatMap({ LentMemory.part(at: $0) }) { return part }
        guard let part = LentMemory.takePart() else {
            throw EideticError(.outOfMemory, message: "no part of the shared memory is free")
        }
        let target = UnsafeMutableRawBufferPointer(start: memory.base + part * layout.partSize, count: layout.partSize)
        let rowSize = 4 * layout.size.width
        for row in 0..<layout.size.height {
            let bytes = UnsafeRawBufferPointer(rebasing: source[(row * pixels.bytesPerRow)...].prefix(rowSize))
            UnsafeMutableRawBufferPointer(rebasing: target[(row * rowSize)...]).copyMemory(from: bytes)
        }
        return part
    }
}
