import EideticCore
import Glibc

/// What an encoder in C gives: bytes that it allocated, or a message.
struct EncoderOutput: ~Copyable {
    var base: UnsafeMutablePointer<UInt8>?
    var count = 0
    var message = [CChar](repeating: 0, count: 256)

    deinit { free(base) }

    var array: [UInt8] { Array(UnsafeBufferPointer(start: base, count: count)) }

    /// What the message says.
    func error(format: StaticString, isOutOfMemory: Bool) -> EideticError {
        let text = message.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        return EideticError(isOutOfMemory ? .outOfMemory : .encodingFailed, message: "\(format): \(text)")
    }
}
