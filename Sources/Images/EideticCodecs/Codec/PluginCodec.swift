import EideticCore

/// The codecs of users, as one codec of this package.
enum PluginCodec: ImageCodec {
    private static let plugins = Guarded<[ImageFormat: any ImageCodecPlugin]>([:])

    static func register(_ plugin: some ImageCodecPlugin) {
        let (format, signatures) = (plugin.format, plugin.signatures)
        // The earlier codec may be released here, which must not happen under the lock.
        _ = plugins.withLock { $0.updateValue(plugin, forKey: format) }
        OwnSignatures.add(signatures, of: format)
    }

    static func unregister(_ format: ImageFormat) -> Bool {
        OwnSignatures.add([], of: format)
        // As above, it is released behind the lock.
        let plugin = plugins.withLock { $0.removeValue(forKey: format) }
        return plugin != nil
    }

    static var formats: [ImageFormat] { plugins.withLock { Array($0.keys) } }

    static func header(of input: ReceivedBytes) throws(EideticError) -> ImageHeader? {
        let (bytes, format) = (input.bytes, input.format)
        guard let header = try plugin(for: format).header(of: bytes.assumingMemoryBound(to: UInt8.self).span) else {
            guard input.isComplete else { return nil }
            throw EideticError(.truncated, message: "\(format): \(bytes.count) bytes are too few for an image")
        }
        guard header.format == format, header.size.width > 0, header.size.height > 0, header.frameCount > 0 else {
            let announced = "\(header.frameCount) frames of \(header.size) as \(header.format)"
            throw EideticError(.corrupt, message: "\(format): the codec announces \(announced)")
        }
        return header
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        let plugin = try plugin(for: task.header.format)
        let task = task.rejectingPartial
        let bytes = bytes.assumingMemoryBound(to: UInt8.self).span
        let frames = try plugin.decode(bytes, for: ImageCodecTask(task: task))
        try check(frames, of: task)
        return DecodedPixels(
            frames: task.decodesAllFrames ? frames : Array(frames.prefix(1)),
            loopCount: task.decodesAllFrames ? task.header.loopCount : 1
        )
    }

    /// Checks that a codec has kept its contract.
    private static func check(_ frames: [Image.Frame], of task: DecodeTask) throws(EideticError) {
        guard let size = frames.first?.pixels.size, frames.allSatisfy({ $0.pixels.size == size }),
            size.width >= task.targetSize.width, size.height >= task.targetSize.height,
            size.width <= task.header.size.width, size.height <= task.header.size.height,
            frames.count <= max(1, task.header.frameCount)
        else {
            let reason = "the codec returned other frames than its header announces"
            throw EideticError(.corrupt, message: "\(task.header.format): \(reason)")
        }
    }

    /// The codec of a format; `nil` if none was added for it.
    static func registered(for format: ImageFormat) -> (any ImageCodecPlugin)? { plugins.withLock { $0[format] } }

    private static func plugin(for format: ImageFormat) throws(EideticError) -> any ImageCodecPlugin {
        guard let plugin = registered(for: format) else {
            throw EideticError(.unsupportedFormat, message: "there is no codec for \(format)")
        }
        return plugin
    }
}
