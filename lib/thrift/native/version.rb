# frozen_string_literal: true

module Thrift
  module Native
    VERSION = "0.1.0"
  end
end
