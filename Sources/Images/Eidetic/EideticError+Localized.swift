public import EideticCore
public import FoundationEssentials

/// A program that imports `Eidetic` and Foundation gets ``EideticError/message`` as `localizedDescription`.
extension EideticError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}
