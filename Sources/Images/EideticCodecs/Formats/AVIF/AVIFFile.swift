#if AVIF
import CAVIF
import CCodec
import CPixels
import EideticCore

/// The reason why libavif could not open a file.
struct AVIFFailure: Error {
    let error: EideticError
    /// A Boolean value indicating whether the library supports the file but for its grid.
    let isInvalidGrid: Bool
}

/// An open AVIF file in memory.
struct AVIFFile: ~Copyable {
    private let handle: OpaquePointer
    private let info: eidetic_avif_info
    private let alphaProperties: AVIFAlpha?
    private let tileAlpha: AVIFTileAlpha?
    /// The bytes that the library reads, if they are not those of the file.
    private let copy: FileCopy?
    /// The luminance of the brightest light in candela per square metre, if the file states it.
    private let peak: Double?

    /// Opens the file and parses its headers.
    ///
    /// - Returns: `nil` if more bytes are needed.
    init?(_ bytes: UnsafeRawBufferPointer, isComplete: Bool, maximumPixels: Int, maximumFrames: Int)
        throws(AVIFFailure)
    {
        var outcome = eidetic_codec_outcome()
        var info = eidetic_avif_info()
        let copy: FileCopy?
        do throws(EideticError) {
            guard !HEIFItemIndex.listsExtentsWithoutFields(bytes) else {
                throw EideticError(.corrupt, message: "avif: an item has many extents without a place")
            }
            copy = try AVIFForeignBoxes.readableCopy(of: bytes, isComplete: isComplete)
        } catch {
            throw AVIFFailure(error: error, isInvalidGrid: false)
        }
        let handle = eidetic_avif_open(
            (copy?.bytes ?? bytes).baseAddress,
            bytes.count,
            isComplete,
            UInt32(clamping: maximumPixels),
            UInt32(clamping: maximumFrames),
            &info,
            &outcome
        )
        if outcome.status == EIDETIC_CODEC_NEEDS_MORE, !isComplete { return nil }
        do throws(EideticError) {
            try outcome.check(format: .avif)
        } catch {
            throw AVIFFailure(error: error, isInvalidGrid: info.has_invalid_grid)
        }
        guard let handle else { return nil }
        if let pixels = HEIFItemIndex(bytes)?.largestTile { eidetic_avif_limit_frames(handle, pixels) }
        let tileAlpha: AVIFTileAlpha?
        do throws(EideticError) {
            let size = PixelSize(width: Int(info.width), height: Int(info.height))
            let mayHaveTiles = isComplete && info.frames == 1 && !info.has_alpha
            tileAlpha = mayHaveTiles ? try AVIFTileAlpha(of: bytes, size: size) : nil
        } catch {
            eidetic_avif_close(handle)
            throw AVIFFailure(error: error, isInvalidGrid: false)
        }
        self.handle = handle
        self.tileAlpha = tileAlpha
        self.info = info
        self.copy = copy
        peak = HEIFItems(bytes)?.peakLuminance
        alphaProperties = info.has_alpha && info.frames == 1 ? AVIFAlpha(bytes) : nil
        loopCount = info.frames == 1 ? 1 : AVIFRepetition.loopCount(of: copy?.bytes ?? bytes)
    }

    deinit { eidetic_avif_close(handle) }

    var size: PixelSize { PixelSize(width: Int(info.width), height: Int(info.height)) }

    let loopCount: Int?

    func makeHeader(from bytes: UnsafeRawBufferPointer) -> ImageHeader {
        ImageHeader(
            format: .avif,
            size: size,
            hasAlpha: alpha != .opaque,
            frameCount: Int(info.frames),
            loopCount: loopCount,
            durations: info.frames == 1 ? [] : durations(from: bytes)
        )
    }

    private func durations(from bytes: UnsafeRawBufferPointer) -> [Duration] {
        AVIFDurations.read(from: copy?.bytes ?? bytes, count: Int(info.frames))
    }

    func decode(for task: DecodeTask) throws(EideticError) -> DecodedPixels {
        var frames: [Image.Frame] = []
        let durations = task.header.durations
        let converter = deepConverter(for: task)
        let colourSpace = converter == nil ? colourSpace : nil
        for index in 0..<(task.decodesAllFrames ? Int(info.frames) : 1) {
            try task.checkpoint()
            let duration = index < durations.count ? durations[index] : .zero
            do throws(EideticError) {
                frames.append(Image.Frame(pixels: try nextFrame(converter: converter, for: task), duration: duration))
            } catch {
                guard task.acceptsPartial, error.code == .truncated, !frames.isEmpty else { throw error }
                var decoded = DecodedPixels(frames: frames, loopCount: loopCount, colourSpace: colourSpace)
                decoded.isPartial = true
                return decoded
            }
        }
        return DecodedPixels(frames: frames, loopCount: loopCount, colourSpace: colourSpace)
    }

    /// A profile comes before code points.
    var colourSpace: ColourSpace? {
        info.icc.map { .profile(Array(UnsafeBufferPointer(start: $0, count: info.icc_count))) }
            ?? ColourSpace(primaries: Int(info.primaries), transfer: Int(info.transfer), peak: peak)
    }

    /// Returns the converter of an image with more than 8 bits per channel.
    private func deepConverter(for task: DecodeTask) -> ColourConverter? {
        guard info.depth > 8, tileAlpha == nil, alphaProperties?.isLimitedRange != true,
            let converter = task.deepConverter(from: colourSpace), !converter.isGrey
        else { return nil }
        return converter
    }

    private var alpha: PixelBuffer.Alpha {
        if tileAlpha != nil { return .straight }
        guard info.has_alpha else { return .opaque }
        return info.is_premultiplied ? .premultiplied : .straight
    }

    /// The number of frames that the bytes contain; `known` of them are known to be there.
    func availableFrameCount(from known: Int) -> Int {
        Int(eidetic_avif_available_frames(handle, UInt32(clamping: known)))
    }

    /// Decodes the next frame, or the one with an index, and scales it down, because the limit on animations counts
    /// frames of the target size.
    ///
    /// With a converter, the frame is read with 16 bits per channel, and is in sRGB.
    func nextFrame(
        at index: Int? = nil,
        converter: ColourConverter? = nil,
        for task: DecodeTask
    ) throws(EideticError) -> PixelBuffer {
        if let converter { return try nextDeepFrame(converter: converter, for: task) }
        let pixels = try PixelBuffer(size: size, alpha: alpha) { memory, stride throws(EideticError) in
            var outcome = eidetic_codec_outcome()
            if let index {
                _ = eidetic_avif_frame_at(handle, UInt32(clamping: index), memory.bytePointer, stride, &outcome)
            } else {
                _ = eidetic_avif_next(handle, false, memory.bytePointer, stride, &outcome)
            }
            try outcome.check(format: .avif)
            if alphaProperties?.isLimitedRange == true, alpha == .straight {
                eidetic_pixels_narrow_alpha(memory.bytePointer, size.pixelCount)
            }
            try tileAlpha?.write(to: memory)
            memory.clampColours(for: alpha)
        }
        return try Resampler.resample(pixels, to: task.targetSize, for: task)
    }

    private func nextDeepFrame(converter: ColourConverter, for task: DecodeTask) throws(EideticError) -> PixelBuffer {
        let straight: PixelBuffer.Alpha = alpha == .opaque ? .opaque : .straight
        let deep = try DeepPixels(size: size, alpha: straight) { memory, stride throws(EideticError) in
            var outcome = eidetic_codec_outcome()
            _ = eidetic_avif_next(handle, true, memory.bytePointer, stride, &outcome)
            try outcome.check(format: .avif)
        }
        return try Resampler.resample(try converter.convert(deep, for: task), to: task.targetSize, for: task)
    }
}
#endif
