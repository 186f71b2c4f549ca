# frozen_string_literal: true

# Everything that a program can see of a value, as one String that is the same in every process.
class Describe
  def self.call(value)
    new.call(value)
  end

  def initialize
    @seen = {}.compare_by_identity
  end

  def call(value)
    return scalar(value) || inside(value) unless shared?(value)

    @seen[value] ? "again#{@seen[value]}" : remember(value)
  end

  private

  # Frozen strings may be shared by anybody.
  def shared?(value)
    case value
    when Array, Hash, Set, Thrift::Struct, Thrift::Union then true
    when String then !value.frozen?
    else false
    end
  end

  def remember(value)
    @seen[value] = @seen.size
    scalar(value) || inside(value)
  end

  def scalar(value)
    case value
    when Float then "float:#{[value].pack("G").unpack1("H*")}"
    when String then "#{frozen(value)}#{value.encoding}:#{bytes(value)}"
    when Integer, Symbol, true, false, nil, Rational, Module then value.inspect
    end
  end

  def bytes(string)
    hex = string.unpack1("H*")
    hex.size > 200 ? "#{string.bytesize} bytes #{hex[0, 20]} #{string.sum(32)}" : hex
  end

  def frozen(value)
    value.frozen? ? "frozen " : ""
  end

  def inside(value)
    case value
    when Array then "#{frozen(value)}[#{value.map { |item| call(item) }.join(", ")}]"
    when Hash then hash(value)
    when Set then set(value)
    when Thrift::Struct, Thrift::Union then struct(value)
    else value.class.to_s
    end
  end

  def hash(value)
    pairs = value.map { |key, item| "#{call(key)}=>#{call(item)}" }
    identity = value.compare_by_identity? ? "by identity " : ""
    "#{frozen(value)}#{identity}{#{pairs.join(", ")}} default #{value.default.inspect} #{value.default_proc.inspect}"
  end

  def set(value)
    inner = value.instance_variable_get(:@hash)
    members = value.map { |item| call(item) }
    "#{frozen(value)}#{value.class}(#{members.join(", ")}) #{value.instance_variables} " \
      "#{inner && [inner.default, inner.default_proc, inner.values.uniq, inner.frozen?]}"
  end

  def struct(value)
    ivars = value.instance_variables.map do |name|
      item = value.instance_variable_get(name)
      "#{name}=#{call(item)}#{default_of(value, name, item)}"
    end
    message = value.is_a?(Exception) ? " #{value.message.is_a?(String) && value.message.encoding}" : ""
    "#{frozen(value)}#{value.class}#{message}<#{ivars.join(" ")}>"
  end

  # The very object that is the default of the field?
  def default_of(value, name, item)
    return if item.nil?

    field = value.class::FIELDS.each_value.find { |info| "@#{info[:name]}" == name.to_s }
    " (the default itself)" if field && !field[:default].nil? && field[:default].equal?(item) && !item.frozen? && !item.is_a?(Numeric)
  end
end
