package import EideticCodecs
package import EideticCore

extension DecodeOptions: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        writer.append(optional: size) { writer, size in
            writer.append(size.width)
            writer.append(size.height)
        }
        writer.append(contentMode.rawValue)
        if case .point(let x, let y) = cropFocus {
            writer.append(true)
            writer.append(x.bitPattern)
            writer.append(y.bitPattern)
        } else {
            writer.append(false)
        }
        for flag in [appliesOrientation, convertsToSRGB, premultipliesAlpha, frames == .all, acceptsPartial] {
            writer.append(flag)
        }
        writer.append(optional: byteLimit) { $0.append($1.bytes) }
        writer.append(scale.bitPattern)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        self.init()
        size = try reader.optional { reader throws(WireError) in
            PixelSize(width: try reader.integer(), height: try reader.integer())
        }
        guard let mode = ContentMode(rawValue: try reader.text(limit: 16)) else {
            throw .unknownCase(type: "ContentMode", value: 0)
        }
        contentMode = mode
        if try reader.boolean() {
            let x: UInt64 = try reader.integer(), y: UInt64 = try reader.integer()
            cropFocus = .point(x: Double(bitPattern: x), y: Double(bitPattern: y))
        } else {
            cropFocus = .content
        }
        appliesOrientation = try reader.boolean()
        convertsToSRGB = try reader.boolean()
        premultipliesAlpha = try reader.boolean()
        frames = try reader.boolean() ? .all : .first
        acceptsPartial = try reader.boolean()
        byteLimit = try reader.optional { reader throws(WireError) in ByteCount(try reader.integer(Int.self)) }
        scale = Double(bitPattern: try reader.integer())
    }
}

extension DecodeLimits: WireEncodable, WireDecodable {
    package func write(to writer: inout WireWriter) {
        for number in [encodedBytes.bytes, pixels, sideLength, frames, animationBytes.bytes] { writer.append(number) }
        writer.append(duration)
    }

    package init(from reader: inout WireReader) throws(WireError) {
        self.init()
        encodedBytes = ByteCount(try reader.integer(Int.self))
        pixels = try reader.integer()
        sideLength = try reader.integer()
        frames = try reader.integer()
        animationBytes = ByteCount(try reader.integer(Int.self))
        duration = try reader.duration()
    }
}
