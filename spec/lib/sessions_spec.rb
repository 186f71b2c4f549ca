# frozen_string_literal: true

require "thrift/native/sessions"

RSpec.describe Thrift::Native::Sessions do
  def ssl(session)
    double(session: session)
  end

  it "keeps the last session for each context and server" do
    one = Object.new
    two = Object.new
    subject.keep(one, ["a", 1, "a"], ssl(:old))
    subject.keep(one, ["a", 1, "a"], ssl(:new))
    subject.keep(two, ["a", 1, "a"], ssl(:other))
    expect([subject[one, ["a", 1, "a"]], subject[two, ["a", 1, "a"]], subject[one, ["b", 1, "b"]]])
      .to eq([:new, :other, nil])
  end

  it "tells contexts apart by identity" do
    subject.keep(+"same", [1], ssl(:session))
    expect(subject[+"same", [1]]).to be_nil
  end

  it "keeps what it has when there is no session, or an error" do
    context = Object.new
    broken = double
    allow(broken).to receive(:session).and_raise("no")
    subject.keep(context, [1], ssl(:session))
    subject.keep(context, [1], ssl(nil))
    subject.keep(context, [1], broken)
    expect(subject[context, [1]]).to eq(:session)
  end

  it "forgets the oldest, so that it doesn't grow without end" do
    contexts = Array.new(40) { Object.new }
    contexts.each { |context| subject.keep(context, [1], ssl(:session)) }
    expect([subject[contexts.first, [1]], subject[contexts.last, [1]]]).to eq([nil, :session])
    400.times { |server| subject.keep(contexts.last, [server], ssl(:session)) }
    expect([subject[contexts.last, [1]], subject[contexts.last, [399]]]).to eq([nil, :session])
  end
end
