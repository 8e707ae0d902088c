public import EideticCodecs
public import EideticCore

extension DecodeOptions: WireRecord {
    package static let layout = Layout(
        make,
        Field(\.size),
        Field(\.contentMode),
        Field(\.appliesOrientation),
        Field(\.convertsToSRGB),
        Field(\.premultipliesAlpha),
        Field({ $0.frames == .all }),
        Field(\.acceptsPartial),
        Field(\.byteLimit),
        Field(\.scale)
    )

    private static func make(
        size: PixelSize?,
        contentMode: ContentMode,
        appliesOrientation: Bool,
        convertsToSRGB: Bool,
        premultipliesAlpha: Bool,
        hasAllFrames: Bool,
        acceptsPartial: Bool,
        byteLimit: ByteCount?,
        scale: Double
    ) -> DecodeOptions {
        var options = DecodeOptions()
        options.size = size
        options.contentMode = contentMode
        options.appliesOrientation = appliesOrientation
        options.convertsToSRGB = convertsToSRGB
        options.premultipliesAlpha = premultipliesAlpha
        options.frames = hasAllFrames ? .all : .first
        options.acceptsPartial = acceptsPartial
        options.byteLimit = byteLimit
        options.scale = scale
        return options
    }
}

extension ContentMode: WireRecord {
    @usableFromInline
    package static let layout = Layout<Self>(
        Case(0, fit),
        Case(1, fill),
        Case(2, { fillCropped(focus: $0) }) { if case .fillCropped(let focus) = $0 { focus } else { nil } },
        Case(3, stretch)
    )
}

extension CropFocus: WireRecord {
    @usableFromInline
    package static let layout = Layout<Self>(
        Case(0, content),
        Case(1, point) { if case .point(let x, let y) = $0 { (x, y) } else { nil } }
    )
}

extension DecodeLimits: WireRecord {
    @usableFromInline
    package static let layout = Layout(
        make,
        \.encodedBytes,
        \.pixels,
        \.sideLength,
        \.frames,
        \.animationBytes,
        \.duration
    )

    private static func make(
        encodedBytes: ByteCount,
        pixels: Int,
        sideLength: Int,
        frames: Int,
        animationBytes: ByteCount,
        duration: Duration
    ) -> DecodeLimits {
        var limits = DecodeLimits()
        limits.encodedBytes = encodedBytes
        limits.pixels = pixels
        limits.sideLength = sideLength
        limits.frames = frames
        limits.animationBytes = animationBytes
        limits.duration = duration
        return limits
    }
}

extension PixelSize: WireRecord {
    @usableFromInline
    package static let layout = Layout(Self.init, \.width, \.height)
}

extension Layout<PixelSize> {
    /// The size of an image: sides of one pixel or more.
    static func size(upTo limit: Int) -> Self {
        Layout.value.validated { (1...limit).contains($0.width) && (1...limit).contains($0.height) }
    }
}

extension Layout<ImageFormat> {
    static var name: Self {
        Layout<String>.text(limit: 32).compactMap(to: { ImageFormat(rawValue: $0) }, from: \.rawValue)
    }
}
