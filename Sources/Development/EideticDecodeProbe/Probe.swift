import CTestSupport
import EideticCodecs
import EideticCore
import EideticSandbox
import Glibc

/// The loop of a process that is taken over.
struct Probe {
    let attack: Attack
    let socket: PacketSocket
    private var window: MappedMemory?
    private var kept: [MappedMemory] = []
    private var decoders: [UInt32] = []

    init(attack: Attack, socket: PacketSocket) { (self.attack, self.socket) = (attack, socket) }

    /// The size of each image that the process announces: 1,024 by 1,024 pixels are not copied, 8 by 8 are.
    private var size: PixelSize {
        attack == .window ? PixelSize(width: 8, height: 8) : PixelSize(width: 1_024, height: 1_024)
    }

    func send(_ reply: HelperReply) { _ = try? socket.send(WireWriter.encode(reply)) }

    mutating func run() {
        while true {
            var entry = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, -1)
            guard case .packet(let packet)? = try? socket.receive() else { _exit(0) }
            let descriptors = packet.takeDescriptors()
            defer { if attack != .open { for number in descriptors { close(number) } } }
            if let request = try? WireReader.decode(HelperRequest.self, from: packet.bytes) {
                handle(request, descriptor: descriptors.first ?? -1)
            }
        }
    }

    private mutating func handle(_ request: HelperRequest, descriptor: Int32) {
        switch request {
        case .input: break
        case .window(let byteCount):
            window = mapped(descriptor, byteCount: byteCount)
        case .header, .open: answerOpening()
        case .decode(let layout, _):
            guard let memory = attack == .window ? window : mapped(descriptor, byteCount: layout.byteCount) else {
                _exit(1)
            }
            // As an honest process does before it replies.
            if attack != .rewrites, attack != .open { close(descriptor) }
            decode(layout, into: memory)
            if attack == .rewrites { rewrite(descriptor, byteCount: layout.byteCount) }
        case .keep(let options, let byteCount, _):
            if attack == .loop || isEndless(byteCount) { while true { spin() } }
            decoders.append(options.number)
            if options.kind == .preview { answerOpening() } else { answerAnimation() }
        case .extend(_, let byteCount, _):
            if isEndless(byteCount) { while true { spin() } }
            if attack == .vanishing { return answerAnimation(isExtended: true) }
            let header = ImageHeader(format: .png, size: size)
            open(header, workingMemory: attack == .growingMemory ? .max : 4 << 20, size: size)
        case .release: break
        case .frame(let number, let index, let layout, _):
            let isHanging = attack == .frameLoop || (attack == .secondLoops && decoders.dropFirst().contains(number))
            if isHanging { while true { spin() } }
            if attack == .frameCrash { abort() }
            if attack == .slowStart, index == 0 { usleep(200_000) }
            guard let window, layout.byteCount <= window.byteCount else { _exit(1) }
            memset(window.base, 7, layout.recordOffset)
            let record = FrameRecord(duration: .zero, part: 0, alpha: .premultiplied)
            record.write(to: window.base + layout.recordOffset)
            if descriptor >= 0 { close(descriptor) }
            send(.frame(result(frameCount: 1), DecoderUsage()))
        case .metadata: send(.failure(.corrupt, message: "metadata"))
        }
    }

    /// Returns whether the bytes of an animation are never parsed to their end.
    private func isEndless(_ byteCount: Int) -> Bool { attack == .longLoop && byteCount > 40 }

    /// Announces an animation of three frames, or one that no file leads to.
    private func answerAnimation(isExtended: Bool = false) {
        let side = attack == .animationOversized ? 1 << 20 : 8
        let hasVanished = attack == .vanishing && isExtended
        let count = attack == .animationFrames ? 60_000 : hasVanished ? 0 : 3
        let duration: Int64 = attack == .animationDurations ? -1 : 1_000
        for index in 0..<count { window?.base.storeBytes(of: duration, toByteOffset: 8 * index, as: Int64.self) }
        let info = AnimationInfo(
            format: .gif,
            size: PixelSize(width: side, height: side),
            sourceSize: PixelSize(width: side, height: side),
            durations: [Duration](repeating: .zero, count: count),
            loopCount: 1,
            isComplete: attack != .incomplete
        )
        if attack == .animationReply { return send(.frame(nil, DecoderUsage())) }
        send(.animation(AnimationDescription(info), DecoderUsage()))
    }

    private func mapped(_ descriptor: Int32, byteCount: Int) -> MappedMemory? {
        try? MappedMemory(descriptor: descriptor, byteCount: byteCount, access: .readWrite)
    }

    private func answerOpening() {
        let header = ImageHeader(format: .png, size: size)
        switch attack {
        case .exit: _exit(0)
        case .crash: abort()
        case .loop: while true { spin() }
        case .sleep: while true { sleep(1_000) }
        case .memory: send(.failure(.corrupt, message: "\(allocatedMebibytes())"))
        case .escapes, .fonts, .denied: send(.failure(.corrupt, message: escapes()))
        case .garbage: _ = try? socket.send([UInt8](repeating: 0xff, count: 60_000))
        case .otherReply: send(.decoded(result(frameCount: 1)))
        case .oversized: open(header, workingMemory: 1, size: PixelSize(width: 1 << 20, height: 1 << 20))
        case .negative: open(header, workingMemory: .max, size: size)
        case .manyFrames: open(header, workingMemory: 1, size: size, frameCount: 60_000)
        case .largeAtOnce:
            guard let layout = ResultLayout(size: PixelSize(width: 4_000, height: 3_000), frameCount: 1) else {
                _exit(2)
            }
            send(.decodedAtOnce(HeaderDescription(header), layout, result(frameCount: 1)))
        case .wrongDurations:
            for index in 0..<1_000 { window?.base.storeBytes(of: -1, toByteOffset: 8 * index, as: Int64.self) }
            let durations = [Duration](repeating: .zero, count: 1_000)
            let moving = ImageHeader(format: .png, size: size, frameCount: 1_000, durations: durations)
            open(moving, workingMemory: 1, size: size)
        case .unbidden:
            for _ in 0..<20 { send(.failure(.corrupt, message: "unbidden")) }
        default: open(header, workingMemory: 4 << 20, size: size)
        }
    }

    @inline(never)
    private func spin() {}

    /// Returns the names of what the system does not refuse.
    private func escapes() -> String {
        var list = [CChar](repeating: 0, count: 900)
        eidetic_try_to_escape(&list, list.count)
        return String(decoding: list.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Allocates until the system refuses, or 16 GiB.
    private func allocatedMebibytes() -> Int {
        var count = 0
        while count < 1_024, let memory = mmap(nil, 16 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            memory != MAP_FAILED
        {
            count += 1
        }
        return 16 * count
    }

    private func open(_ header: ImageHeader, workingMemory: Int, size: PixelSize, frameCount: Int = 1) {
        guard let layout = ResultLayout(size: size, frameCount: frameCount) else { _exit(2) }
        let memory = DecodeMemory(working: workingMemory, kept: min(workingMemory, 4 << 20))
        send(.opened(HeaderDescription(header), memory, layout))
    }

    private func result(frameCount: Int) -> ResultDescription {
        ResultDescription(
            frameCount: frameCount,
            loopCount: 1,
            sourceSize: size,
            isPartial: attack == .growingMemory,
            processorTime: .zero
        )
    }

    private mutating func decode(_ layout: ResultLayout, into memory: MappedMemory) {
        memset(memory.base, 7, layout.recordOffset)
        let part = attack == .wrongPart ? 1_000_000 : 0
        FrameRecord(duration: .zero, part: part, alpha: .premultiplied).write(to: memory.base + layout.recordOffset)
        if attack == .mapped || attack == .window { kept.append(memory) }
        let frameCount = attack == .wrongSize ? 2 : 1
        if attack == .mapped {
            send(.decoded(result(frameCount: 1)))
        } else {
            // The mapping goes before the reply, unless it is kept.
            write(result(frameCount: frameCount), whileKeeping: memory)
        }
    }

    /// Tries to write over pixels that were handed over, until the application has sealed them.
    private func rewrite(_ descriptor: Int32, byteCount: Int) {
        for _ in 0..<1_000 {
            if let memory = mapped(descriptor, byteCount: byteCount) { memset(memory.base, 9, memory.byteCount) }
            var byte: UInt8 = 9
            lseek(descriptor, 0, SEEK_SET)
            _ = Glibc.write(descriptor, &byte, 1)
        }
    }

    private func write(_ result: ResultDescription, whileKeeping memory: consuming MappedMemory) {
        guard attack == .window else {
            munmap(memory.base, memory.byteCount)
            return send(.decoded(result))
        }
        send(.decoded(result))
        // The image has been copied, or soon is.
        usleep(50_000)
        memset(memory.base, 9, 8 * 8 * 4)
    }
}
